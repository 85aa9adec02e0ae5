import AttachPrepJobs
import Foundation
import RichPush
import TestSupport
import Testing

struct ConnectionTests {
    private static let head = "Host: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n"

    /// Impatient, so that tests need not be patient.
    private func impatient(_ connections: Int = 100) async throws -> LiveService {
        try await LiveService {
            $0.idleConnectionSecondsMax = 0.3
            $0.connectionsMax = connections
        }
    }

    @Test func `a client that says nothing is closed`() async throws {
        let service = try await impatient()
        let connection = try RawConnection(port: service.port)
        #expect(await connection.receiveAll().isEmpty)
    }

    @Test func `a client that sends its header letter by letter is closed`() async throws {
        let service = try await impatient()
        let connection = try RawConnection(port: service.port)
        await #expect(throws: RawConnection.Failure.self) {
            try await connection.send("GET / HTTP/1.1\r\nX: ")
            try await askUntil("the connection is closed") {
                try await connection.send("x")
                return false
            }
        }
    }

    @Test(arguments: ["", "drip"])
    func `a client that sends its body slowly, or not at all, is closed`(drip: String) async throws {
        let service = try await impatient()
        let connection = try RawConnection(port: service.port)
        try await connection.send("POST /v1/uploads HTTP/1.1\r\n\(Self.head)Content-Length: 100000\r\n\r\n")
        await #expect(throws: RawConnection.Failure.self) {
            try await askUntil("the connection is closed") {
                guard drip.isEmpty else {
                    try await connection.send("x")
                    return false
                }
                guard await connection.receive().isEmpty else { return false }
                throw RawConnection.Failure(operation: "receive", number: 0)
            }
        }
        try await askUntil("the upload is discarded") { service.store.state.withLock(\.discarded) == 1 }
        #expect(try service.folder.contents().isEmpty)
    }

    @Test func `a client that does not read its answer is closed, and costs no memory meanwhile`() async throws {
        let service = try await impatient()
        let media = MediaID.make()
        let path = service.folder.path("content")
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 400_000_000)
        let digest = String(repeating: "0", count: 64)
        let file = StoredFile(
            path: path, name: "a.mp4", mimeType: "video/mp4", bytes: 400_000_000, sha256: digest)
        service.store.state.withLock { $0.files["\(media)/a.mp4"] = file }
        let connection = try RawConnection(port: service.port, receiveBuffer: 4_096)
        let before = try Self.residentBytes()
        try await connection.send("GET /media/\(media)/a.mp4 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try await askUntil("the connection is closed") { (try? await connection.send("x")) == nil }
        #expect(await connection.receiveAll().count < 50_000_000)
        #expect(try Self.residentBytes() - before < 50_000_000)
    }

    @Test func `a header that is too long is refused as a problem`() async throws {
        let service = try await LiveService()
        for head in [
            "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
            "GET / HTTP/1.1\r\n" + String(repeating: "X: 0123456789\r\n", count: 2_000) + "\r\n",
        ] {
            let connection = try RawConnection(port: service.port)
            try await connection.send(head)
            let answer = try HTTPCaller.answer(await connection.receiveAll())
            #expect(answer.status == 431 && answer.code == "request.too_large")
            #expect(answer.field("content-type") == "application/problem+json")
        }
    }

    @Test func `an address that is too long is refused`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send("GET /\(String(repeating: "x", count: 200_000)) HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = try HTTPCaller.answer(await connection.receiveAll())
        #expect((400..<500).contains(answer.status) && answer.status != 404)
    }

    @Test(arguments: [
        "HELLO\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
    func `what is no HTTP is a problem, and the end of the connection`(text: String) async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(text)
        let answer = try HTTPCaller.answer(await connection.receiveAll())
        #expect(answer.status == 400 && answer.code == "request.invalid")
        #expect(answer.field("connection") == "close")
    }

    @Test func `a broken chunk is answered once`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "POST /v1/jobs HTTP/1.1\r\n\(Self.head)Content-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
        let said = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(said.hasPrefix("HTTP/1.1 400 ") && said.components(separatedBy: "HTTP/1.1 400 ").count == 2)
    }

    @Test func `one connection carries many requests, also ahead of their answers`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        let one = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        try await connection.send(String(repeating: one, count: 50) + last)
        let said = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(said.components(separatedBy: "HTTP/1.1 200 OK").count == 52)
    }

    @Test func `a client of HTTP 1.0 is answered and let go`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send("GET /healthz HTTP/1.0\r\n\r\n")
        let said = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(said.hasPrefix("HTTP/1.0 200 OK") && said.hasSuffix("{\"status\":\"ok\"}"))
    }

    @Test func `a connection too many is told so, and room is made by one that goes`() async throws {
        let service = try await LiveService { $0.connectionsMax = 3 }
        var held = try (0..<3).map { _ in try RawConnection(port: service.port) }
        for connection in held {
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = await connection.receive(until: "}")
        }
        let refused = try await service.stranger.get("/healthz")
        #expect(refused.status == 503 && refused.code == "queue.full" && refused.field("retry-after") == "1")
        held.removeAll()
        try await askUntil("there is room again") {
            try await service.stranger.get("/healthz").status == 200
        }
    }

    @Test func `an answer that has begun is finished when the service stops`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "POST /v1/uploads HTTP/1.1\r\n\(Self.head)Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        _ = await connection.receive(until: "100 Continue\r\n\r\n")
        let idle = try RawConnection(port: service.port)
        await service.beginToStop()
        #expect(await idle.receiveAll().isEmpty)
        try await connection.send("hello")
        let answer = try HTTPCaller.answer(await connection.receiveAll())
        #expect(answer.status == 201 && answer.field("connection") == "close")
        try await service.ended()
    }

    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4096
    }
}
