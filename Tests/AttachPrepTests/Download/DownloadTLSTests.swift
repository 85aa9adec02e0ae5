import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct DownloadTLSTests {
    private let body = patterned(100_000)

    private func bench() throws -> DownloadBench {
        let authority = try TestCertificates.shared.authorityFile
        return try DownloadBench(
            policy: DownloadPolicy(httpsOnly: true, certificateAuthorityFile: authority),
            resolver: FixedResolver(["cdn.example": ["127.0.0.1"]]))
    }

    @Test func `A configured certificate authority is trusted`() async throws {
        let server = try TLSFileServer(.http1)
        try server.folder.write(Array(body), to: "cat.jpg")
        let bench = try bench()
        let file = try await bench.fetch(server.url("/cat.jpg"))
        #expect(try bench.content == body)
        #expect(file.timings.tls > 0)
    }

    @Test func `A certificate for a name is valid for the name's pinned address`() async throws {
        let server = try TLSFileServer(.http1)
        try server.folder.write(Array(body), to: "cat.jpg")
        #expect(try await bench().fetch(server.url("/cat.jpg", host: "cdn.example")).bytes == body.count)
    }

    @Test func `An unknown certificate authority is rejected`() async throws {
        let server = try TLSFileServer(.http1)
        let error = try await DownloadBench().failure(of: server.url("/cat.jpg"))
        #expect(error.code == .downloadTLS)
        #expect(!error.isRetryable)
    }

    @Test(arguments: [TestCertificates.Identity.selfSigned, .wrongName])
    func `A self-signed certificate and a wrong name are rejected`(identity: TestCertificates.Identity) async throws {
        let server = try TLSFileServer(.http1, as: identity)
        #expect(try await bench().failure(of: server.url("/cat.jpg")).code == .downloadTLS)
    }

    @Test func `A server without TLS is rejected for an https URL`() async throws {
        let server = try LoopbackServer()
        let url = server.url("/cat").replacing("http://", with: "https://")
        #expect(try await bench().failure(of: url).code == .downloadTLS)
        #expect(server.requests.isEmpty)
    }

    @Test func `HTTP/2 is used when the server offers it`() async throws {
        let server = try TLSFileServer(.http2)
        try server.folder.write(Array(body), to: "cat.jpg")
        let bench = try bench()
        let file = try await bench.fetch(server.url("/cat.jpg"))
        #expect(file.httpVersion == "2")
        #expect(try bench.content == body)
    }

    @Test func `A missing file is also reported over HTTP/2`() async throws {
        let server = try TLSFileServer(.http2)
        #expect(try await bench().failure(of: server.url("/cat.jpg")).code == .sourceNotFound)
    }

    @Test func `A size limit ends one HTTP/2 stream and keeps the connection`() async throws {
        let server = try TLSFileServer(.http2)
        try server.folder.write(Array(body), to: "cat.jpg")
        let bench = try bench()
        #expect(try await bench.failure(of: server.url("/cat.jpg"), bytesMax: 1_000).code == .downloadTooLarge)
        let file = try await bench.fetch(server.url("/cat.jpg"))
        #expect(file.timings.tls == 0)
    }
}
