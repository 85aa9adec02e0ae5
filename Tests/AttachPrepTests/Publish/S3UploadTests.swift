import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

@Suite(.timeLimit(.minutes(1))) struct S3UploadTests {
    let bucket: FakeBucket

    init() throws {
        bucket = try FakeBucket()
    }

    private func failure(bytes: Int = 10, within time: Duration = .seconds(30)) async throws -> AttachPrepError {
        try #require(
            await #expect(throws: AttachPrepError.self) { try await bucket.upload(bytes: bytes, within: time) })
    }

    private let stored = LoopbackResponse.status(200, ["ETag": "\"x\""])

    // MARK: One request

    @Test func `A small file is uploaded in one request, with its headers`() async throws {
        bucket.server.serve(FakeBucket.path, stored)
        try await bucket.upload(bytes: 1_000)
        let request = try #require(bucket.server.requests.first)
        #expect(request.method == "PUT" && request.body.count == 1_000)
        #expect(request.headers["content-type"] == "video/mp4")
        #expect(request.headers["content-disposition"] == "inline; filename=\"attachment.mp4\"")
        #expect(request.headers["cache-control"] == "public, max-age=3600")
        #expect(request.headers["x-amz-content-sha256"] == bucket.digest(bytes: 1_000))
        #expect(request.headers["x-amz-meta-sha256"] == bucket.digest(bytes: 1_000))
        #expect(request.headers["x-amz-security-token"] == nil)
        let signature = try #require(request.headers["authorization"])
        #expect(signature.hasPrefix("AWS4-HMAC-SHA256 Credential=test:tester/"))
        #expect(!signature.contains("user-agent") && request.headers["user-agent"]?.hasPrefix("attachprep/") == true)
    }

    @Test func `An empty file is uploaded`() async throws {
        bucket.server.serve(FakeBucket.path, stored)
        try await bucket.upload(bytes: 0)
        #expect(bucket.server.requests.first?.headers["content-length"] == "0")
    }

    @Test func `A session token is sent and signed`() async throws {
        let environment = FakeBucket.environment.merging(["AWS_SESSION_TOKEN": "abc"]) { $1 }
        let bucket = try FakeBucket(environment: environment)
        bucket.server.serve(FakeBucket.path, stored)
        try await bucket.upload(bytes: 1)
        let request = try #require(bucket.server.requests.first)
        #expect(request.headers["x-amz-security-token"] == "abc")
        #expect(request.headers["authorization"]?.contains("x-amz-security-token") == true)
    }

    @Test(arguments: [503, 500, 429]) func `A busy endpoint is retried`(status: Int) async throws {
        bucket.server.serve(FakeBucket.path, inTurn: [.s3Error(status, "SlowDown"), stored])
        try await bucket.upload(bytes: 100_000)
        #expect(bucket.server.requests.map(\.body.count) == [100_000, 100_000])
    }

    @Test func `A busy endpoint fails after the maximum number of attempts`() async throws {
        bucket.server.serve(FakeBucket.path, .s3Error(503, "SlowDown"))
        let error = try await failure()
        #expect(error.code == .publishUnavailable && error.isRetryable)
        #expect(bucket.server.requests.count == Limits.publishAttemptsMax)
    }

    @Test func `An interrupted upload is sent again on a new connection`() async throws {
        bucket.server.serve(FakeBucket.path, inTurn: [LoopbackResponse([.reset]), LoopbackResponse([.close]), stored])
        try await bucket.upload(bytes: 3_000_000)
        #expect(bucket.server.requests.map(\.body.count) == [3_000_000, 3_000_000, 3_000_000])
    }

    @Test(arguments: [(403, "AccessDenied", ErrorCode.publishDenied), (404, "NoSuchBucket", .publishNotFound)])
    func `A rejected request is not retried`(status: Int, code: String, becomes: ErrorCode) async throws {
        bucket.server.serve(FakeBucket.path, .s3Error(status, code))
        #expect(try await failure().code == becomes)
        #expect(bucket.server.requests.count == 1)
    }

    @Test func `A redirect is not followed`() async throws {
        bucket.server.serve(FakeBucket.path, .redirect(bucket.server.url("/elsewhere"), status: 307))
        #expect(try await failure().code == .publishNotFound)
        #expect(bucket.server.requests(to: "/elsewhere").isEmpty)
    }

    @Test func `A successful status from a server that is not S3 is an error`() async throws {
        bucket.server.serve(FakeBucket.path, .body(Data("<html>".utf8), type: "text/html"))
        #expect(try await failure().message.contains("does not answer as S3"))
    }

    @Test func `A refused connection is reported as unavailable`() async throws {
        bucket.server.stop()
        #expect(try await failure(within: .seconds(5)).code == .publishUnavailable)
    }

    @Test func `A silent endpoint ends with the budget`() async throws {
        bucket.server.serve(FakeBucket.path, LoopbackResponse([.hang]))
        #expect(try await failure(within: .milliseconds(300)).code == .deadlineExceeded)
    }

    @Test func `A cancelled upload ends`() async throws {
        bucket.server.serve(FakeBucket.path, LoopbackResponse([.hang]))
        let waiting = Task { [bucket] in try await bucket.upload(bytes: 10) }
        await bucket.server.until { $0.requests.count == 1 }
        waiting.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `Renewed credentials are read from their file at once`() async throws {
        let folder = try TemporaryFolder()
        let write = { @Sendable (key: String) in
            _ = try? folder.write("[default]\naws_access_key_id=\(key)\naws_secret_access_key=s\n", to: "credentials")
        }
        write("OLD")
        let bucket = try FakeBucket(environment: ["AWS_SHARED_CREDENTIALS_FILE": folder.path("credentials")])
        bucket.server.serve(FakeBucket.path) { request in
            guard request.headers["authorization"]?.contains("Credential=NEW") == true else {
                write("NEW/")
                write("NEW")
                return .s3Error(400, "ExpiredToken")
            }
            return .status(200, ["ETag": "x"])
        }
        try await bucket.upload(bytes: 1)
        #expect(bucket.server.requests.count == 2)
    }

    @Test func `Requests over TLS share one connection`() async throws {
        let environment = FakeBucket.environment.merging(["AWS_CA_BUNDLE": try TestCertificates.shared.authorityFile]) {
            $1
        }
        let relays = Mutex([TLSRelay]())
        let bucket = try FakeBucket(environment: environment) { server in
            let relay = try TLSRelay(to: server, protocols: [])
            relays.withLock { $0.append(relay) }
            return relay.url("")
        }
        bucket.server.serve(FakeBucket.path, stored)
        for _ in 1...3 { try await bucket.upload(bytes: 1_000) }
        #expect(bucket.server.requests.count == 3 && bucket.server.connectionCount == 1)
    }

    @Test func `An untrusted certificate is rejected`() async throws {
        let relays = Mutex([TLSRelay]())
        let bucket = try FakeBucket { server in
            let relay = try TLSRelay(to: server, protocols: [])
            relays.withLock { $0.append(relay) }
            return relay.url("")
        }
        let error = await #expect(throws: AttachPrepError.self) { try await bucket.upload(bytes: 1) }
        #expect(error?.code == .publishUnavailable && error?.isRetryable == false)
        #expect(bucket.server.requests.isEmpty)
    }

    // MARK: Multipart

    @Test func `A large file is uploaded in parts, and completed with their ETags`() async throws {
        bucket.serveParts()
        try await bucket.upload(bytes: 17_000_000)
        #expect(bucket.requestLines.first == "POST?uploads=" && bucket.requestLines.last == "POST?uploadId=id%2F1%2B")
        let puts = bucket.server.requests.filter { $0.method == "PUT" }
        #expect(puts.map(\.body.count).sorted() == [1_000_000, 8_000_000, 8_000_000])
        let begun = try #require(bucket.server.requests.first)
        #expect(begun.headers["content-type"] == "video/mp4" && begun.headers["cache-control"] != nil)
        #expect(begun.headers["x-amz-meta-sha256"] == bucket.digest(bytes: 17_000_000))
        let end = String(decoding: try #require(bucket.server.requests.last).body, as: UTF8.self)
        let tags = ["8000000", "8000000", "1000000"].map { "<ETag>&quot;\($0)&quot;</ETag>" }
        #expect(end.split(separator: "</Part>").dropLast().enumerated().allSatisfy { $1.contains(tags[$0]) }, "\(end)")
    }

    @Test func `A rejected part aborts the multipart upload`() async throws {
        bucket.serveParts { $0.target.contains("partNumber=2") ? .s3Error(403, "AccessDenied") : nil }
        #expect(try await failure(bytes: 17_000_000).code == .publishDenied)
        await bucket.cleanup.finish(within: .seconds(30))
        #expect(bucket.requestLines.last == "DELETE?uploadId=id%2F1%2B")
        #expect(!bucket.requestLines.contains("POST?uploadId=id%2F1%2B"))
    }

    @Test func `An upload ended by its budget is aborted`() async throws {
        bucket.serveParts { $0.method == "PUT" ? LoopbackResponse([.hang]) : nil }
        #expect(try await failure(bytes: 9_000_000, within: .milliseconds(500)).code == .deadlineExceeded)
        await bucket.cleanup.finish(within: .seconds(30))
        #expect(bucket.requestLines.last == "DELETE?uploadId=id%2F1%2B")
    }

    @Test func `Shutting down does not wait for an endpoint that delays an abort`() async throws {
        bucket.serveParts { request in
            switch request.method {
            case "PUT": .s3Error(403, "AccessDenied")
            case "DELETE": .status(503, ["Retry-After": "4"])
            default: nil
            }
        }
        #expect(try await failure(bytes: 9_000_000).code == .publishDenied)
        let server = bucket.server
        try await pollUntil("the endpoint receives the abort") {
            server.requests.contains { $0.method == "DELETE" }
        }
        await bucket.cleanup.finish(within: .milliseconds(10))
        #expect(bucket.requestLines.count { $0.hasPrefix("DELETE") } == 1)
    }

    @Test func `A completion that returns 200 with an error is retried`() async throws {
        bucket.serveParts { request in
            guard request.method == "POST", request.target.contains("uploadId"), request.number < 6 else { return nil }
            return .s3Error(200, "InternalError")
        }
        try await bucket.upload(bytes: 9_000_000)
        #expect(bucket.requestLines.filter { $0 == "POST?uploadId=id%2F1%2B" }.count == 3)
    }

    @Test func `A multipart upload that vanished before its completion is an error`() async throws {
        bucket.serveParts { request in
            request.method == "POST" && request.target.contains("uploadId") ? .s3Error(404, "NoSuchUpload") : nil
        }
        let error = try await failure(bytes: 9_000_000)
        #expect(error.code == .publishRejected && error.message.contains("removed a multipart upload"), "\(error)")
    }

    @Test(arguments: [true, false])
    func `An upload whose completion response was lost is looked up`(isThere: Bool) async throws {
        let digest = bucket.digest(bytes: 9_000_000)
        bucket.serveParts { request in
            switch request.method {
            case "POST" where request.target.contains("uploadId"):
                request.number == 4 ? LoopbackResponse([.reset]) : .s3Error(404, "NoSuchUpload")
            case "HEAD": .status(isThere ? 200 : 404, ["x-amz-meta-sha256": digest, "Content-Length": "9000000"])
            default: nil
            }
        }
        if isThere {
            try await bucket.upload(bytes: 9_000_000)
        } else {
            #expect(try await failure(bytes: 9_000_000).code == .publishRejected)
        }
        #expect(bucket.requestLines.contains("HEAD"))
    }
}
