import AttachPrepJobs
import Crypto
import Foundation
import MediaTypes
import TestSupport
import Testing

struct UploadRouteTests {
    @Test func `An uploaded file can be used as a source`() async throws {
        let service = try await LiveService()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        let response = try await service.caller.send("POST", "/v1/uploads", body: bytes)
        #expect(response.status == 201)
        #expect(response.object["bytes"] as? Int == bytes.count)
        let digest = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
        #expect(response.object["sha256"] as? String == digest)
        let source = try #require(response.object["source"] as? String)
        let kept = try #require(service.store.state.withLock { $0.uploads.values.first })
        #expect(source == "upload:\(kept.id)")
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: kept.path))) == bytes)
        let job = try await service.caller.post("/v1/jobs", json: #"{"source": "\#(source)"}"#)
        #expect(job.status == 202)
    }

    @Test func `A file can be uploaded in chunks without a declared length`() async throws {
        let service = try await LiveService()
        let connection = try await begin(service, "Transfer-Encoding: chunked")
        try await connection.send("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
        let response = try TestHTTPClient.response(Array(await connection.receive(until: "}").utf8))
        #expect(response.status == 201 && response.object["bytes"] as? Int == 11)
    }

    @Test(arguments: ["Content-Length: 100", "Transfer-Encoding: chunked"])
    func `An incomplete upload leaves no file`(framing: String) async throws {
        let service = try await LiveService()
        let connection = try await begin(service, framing)
        try await connection.send("5\r\nhello\r\n")
        connection.finishSending()
        _ = await connection.receiveAll()
        try await pollUntil("the upload is discarded") { service.store.state.withLock(\.discarded) == 1 }
        #expect(try service.folder.contents().isEmpty)
        #expect(service.store.state.withLock(\.uploads).isEmpty)
    }

    @Test func `An upload over the limit is rejected by its declared length, before its body`() async throws {
        let service = try await LiveService()
        let connection = try await begin(service, "Content-Length: \(Limits.sourceBytesMax + 1)")
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 413 && response.code == "request.too_large")
        #expect(try service.folder.contents().isEmpty)
    }

    @Test(arguments: ["9223372036854775808", "18446744073709551616", "99999999999999999999999"])
    func `A declared length beyond 64 bits is rejected at once`(_ length: String) async throws {
        let service = try await LiveService()
        let connection = try await begin(service, "Content-Length: \(length)")
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 413 && response.code == "request.too_large")
        #expect(try service.folder.contents().isEmpty)
    }

    @Test func `A length beyond 64 bits is rejected in whatever pieces it arrives, and no number is malformed`()
        async throws
    {
        let service = try await LiveService()
        let head = "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        let pieces = try RawConnection(port: service.port)
        for piece in [head, "999999999999", "99999999999"] { try await pieces.send(piece) }
        #expect(try TestHTTPClient.response(await pieces.receiveAll()).status == 413)
        for length in ["abc", "-1", "1 2", "99999999999999999999999x"] {
            let other = try RawConnection(port: service.port)
            try await other.send("\(head)\(length)\r\n\r\n")
            #expect(try TestHTTPClient.response(await other.receiveAll()).status == 400, "\(length)")
        }
    }

    @Test func `An upload reserves its declared length, or bytes as they arrive`() async throws {
        let service = try await LiveService()
        _ = try await service.caller.send("POST", "/v1/uploads", body: [1, 2, 3])
        let connection = try await begin(service, "Transfer-Encoding: chunked")
        try await connection.send("5\r\nhello\r\n0\r\n\r\n")
        _ = await connection.receive(until: "}")
        let reserved = service.store.state.withLock(\.reserved)
        #expect(reserved.prefix(2) == [3, 0] && reserved.count == 3 && reserved[2] >= 5)
    }

    @Test func `Expect: 100-continue is answered with 100 or with the error`() async throws {
        let service = try await LiveService()
        let wanted = try await begin(service, "Content-Length: 5\r\nExpect: 100-continue")
        #expect(await wanted.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try await wanted.send("hello")
        #expect(await wanted.receive(until: "}").contains("201 Created"))
        let refused = try await begin(service, "Content-Length: 999999999\r\nExpect: 100-continue")
        #expect(await refused.receive(until: "}").hasPrefix("HTTP/1.1 413 "))
    }

    @Test func `An empty file, a form and an encoded body are rejected`() async throws {
        let service = try await LiveService()
        let empty = try await service.caller.send("POST", "/v1/uploads", body: [])
        #expect(empty.status == 422 && empty.code == "media.empty")
        let form = try await service.caller.send(
            "POST", "/v1/uploads", [("Content-Type", "multipart/form-data; boundary=x")], body: [1])
        #expect(form.status == 415)
        let packed = try await service.caller.send("POST", "/v1/uploads", [("Content-Encoding", "gzip")], body: [1])
        #expect(packed.status == 415)
        #expect(try service.folder.contents().isEmpty)
    }

    private func begin(_ service: LiveService, _ field: String) async throws -> RawConnection {
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n"
                + "\(field)\r\n\r\n")
        return connection
    }
}
