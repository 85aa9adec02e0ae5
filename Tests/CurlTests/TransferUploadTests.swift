import Foundation
import TestSupport
import Testing

@testable import Curl

/// Uploads from files, and request signatures.
@Suite(.timeLimit(.minutes(1))) struct TransferUploadTests {
    let server: LoopbackServer
    let loop: TransferLoop
    let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        loop = try TransferLoop(idleConnectionsMax: 4)
        folder = try TemporaryFolder()
    }

    /// Sends part of a file of a million bytes.
    private func put(
        offset: Int = 0, bytes: Int = 1_000_000, _ change: (inout TransferSettings) -> Void = { _ in }
    ) async throws -> TransferReport {
        let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) }
        let path = try folder.write(content, to: "file")
        let file = try #require(FileHandle(forReadingAtPath: path))
        defer { try? file.close() }
        let limits = TransferLimits(
            connect: .seconds(30), firstByte: .seconds(30), stall: .seconds(30), deadline: .now + .seconds(60))
        var settings = TransferSettings(url: server.url("/put"), limits: limits)
        settings.method = .put
        settings.upload = TransferUpload(descriptor: file.fileDescriptor, offset: offset, bytes: bytes)
        change(&settings)
        return await loop.perform(settings, observer: TransferLog())
    }

    @Test func `Part of a file is sent with its length`() async throws {
        server.serve("/put", .status(200))
        #expect(try await put(offset: 300_000, bytes: 400_000).ending == .completed)
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT" && request.headers["content-length"] == "400000")
        #expect(request.body == Data((300_000..<700_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) }))
    }

    @Test func `A file shorter than its declared size ends the transfer`() async throws {
        server.serve("/put", .status(200))
        let report = try await put(offset: 900_000, bytes: 200_000)
        guard case .failed(let error) = report.ending else { return #expect(Bool(false), "\(report.ending)") }
        #expect(error.code == .abortedByCallback)
    }

    @Test func `An early rejection completes the transfer before the file is sent`() async throws {
        // Responds to the head, and reads no body.
        server.greet(
            LoopbackResponse([.receive { $0.suffix(4) == Data("\r\n\r\n".utf8) }]).then(
                .send(Data("HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)), .close))
        #expect(try await put().ending == .completed)
    }

    @Test func `A server that stops reading runs into the stall limit`() async throws {
        server.greet(
            LoopbackResponse([.receive { $0.suffix(4) == Data("\r\n\r\n".utf8) }]).then(
                .send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)), .hang))
        let path = try folder.write([UInt8](repeating: 1, count: 30_000_000), to: "large")
        let file = try #require(FileHandle(forReadingAtPath: path))
        defer { try? file.close() }
        let report = try await put { settings in
            settings.upload = TransferUpload(descriptor: file.fileDescriptor, bytes: 30_000_000)
            settings.limits.stall = .milliseconds(200)
        }
        #expect(report.ending == .stalled)
    }

    @Test func `A signature covers the given headers and no others`() async throws {
        server.serve("/put", .status(200))
        let report = try await put { settings in
            settings.headers = ["x-amz-content-sha256: 00", "Content-Type: image/jpeg"]
            settings.userAgent = "tests"
            settings.signature = TransferSignature(
                accessKeyID: "a:b", secretAccessKey: "hush", region: "eu-west-1", service: "s3")
        }
        #expect(report.ending == .completed)
        let request = try #require(server.requests.first)
        let signature = try #require(request.headers["authorization"])
        #expect(signature.hasPrefix("AWS4-HMAC-SHA256 Credential=a:b/"))
        #expect(signature.contains("/eu-west-1/s3/aws4_request"))
        #expect(signature.contains("SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date,"))
        #expect(request.headers["user-agent"] == "tests" && request.headers["x-amz-date"] != nil)
    }

    @Test func `A HEAD request has no body`() async throws {
        server.serve("/put", .head(200, ["Content-Length": "5"]))
        let report = try await put { settings in
            settings.method = .head
            settings.upload = nil
        }
        #expect(report.ending == .completed && server.requests.first?.method == "HEAD")
    }

    @Test func `A secret appears in no description`() {
        let signature = TransferSignature(accessKeyID: "a", secretAccessKey: "hush", region: "r", service: "s3")
        var dumped = ""
        dump(signature, to: &dumped)
        #expect(!"\(signature)\(String(reflecting: signature))\(dumped)".contains("hush"))
    }
}
