import AttachPrepJobs
import Foundation
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepService

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
        await #expect(throws: RawConnection.SocketError.self) {
            try await connection.send("GET / HTTP/1.1\r\nX: ")
            try await pollUntil("the connection is closed") {
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
        await #expect(throws: RawConnection.SocketError.self) {
            try await pollUntil("the connection is closed") {
                guard drip.isEmpty else {
                    try await connection.send("x")
                    return false
                }
                guard await connection.receive().isEmpty else { return false }
                throw RawConnection.SocketError(operation: "receive", number: 0)
            }
        }
        try await pollUntil("the upload is discarded") { service.store.state.withLock(\.discarded) == 1 }
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
        try await pollUntil("the connection is closed") { (try? await connection.send("x")) == nil }
        #expect(await connection.receiveAll().count < 50_000_000)
        #expect(try Self.residentBytes() - before < 50_000_000)
    }

    @Test func `Forty clients that stop reading cost a part of the file each, and are closed`() async throws {
        let service = try await LiveService { $0.idleConnectionSecondsMax = 1 }
        let path = try Self.bigFile(in: service)
        let before = try Self.residentBytes()
        let readers = try (0..<40).map { _ in try RawConnection(port: service.port, receiveBuffer: 4_096) }
        for reader in readers { try await reader.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        let most = Mutex(0)
        for reader in readers {
            try await pollUntil("the connection is closed") {
                let resident = try Self.residentBytes()
                most.withLock { $0 = max($0, resident) }
                return (try? await reader.send("x")) == nil
            }
        }
        #expect(most.withLock { $0 } - before < 15_000_000)
    }

    @Test func `A client that reads slowly gets all of it`() async throws {
        let service = try await LiveService()
        let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let media = MediaID.make()
        let file = StoredFile(
            path: try service.folder.write(content, to: "content"), name: "a.mp4", mimeType: "video/mp4",
            bytes: content.count, sha256: String(repeating: "0", count: 64))
        service.store.state.withLock { $0.files["\(media)/a.mp4"] = file }
        let connection = try RawConnection(port: service.port, receiveBuffer: 4_096)
        try await connection.send(
            "GET /media/\(media)/a.mp4 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        let answer = try HTTPCaller.answer(await connection.receiveAll())
        #expect(answer.status == 200 && answer.body == content)
    }

    /// The path of 400 MB of nothing.
    private static func bigFile(in service: LiveService) throws -> String {
        let media = MediaID.make()
        let path = service.folder.path("content")
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: 400_000_000)
        let file = StoredFile(
            path: path, name: "a.mp4", mimeType: "video/mp4", bytes: 400_000_000,
            sha256: String(repeating: "0", count: 64))
        service.store.state.withLock { $0.files["\(media)/a.mp4"] = file }
        return "/media/\(media)/a.mp4"
    }

    @Test(arguments: [
        ("two", "Host: localhost\r\nHost: evil.example"), ("two of the same", "Host: localhost\r\nhost: localhost"),
        ("none", "Accept: */*"), ("an empty one", "Host:"), ("user info", "Host: a@b"), ("a path", "Host: a/b"),
        ("no port", "Host: a:x"), ("half an address", "Host: [::1"), ("a space", "Host: a b"),
    ])
    func `A request without exactly one valid Host is refused`(name: String, fields: String) async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send("GET /healthz HTTP/1.1\r\n\(fields)\r\n\r\n")
        let answer = try HTTPCaller.answer(await connection.receiveAll())
        #expect(answer.status == 400 && answer.code == "request.invalid" && answer.field("connection") == "close")
    }

    @Test(arguments: [
        "localhost", "a.example:8080", "127.0.0.1:1", "[::1]:8080", "a_b.example.", "xn--bcher-kva.example",
    ])
    func `A valid Host is answered`(host: String) async throws {
        let answer = try await LiveService().stranger.get("/healthz", [("Host", host)])
        #expect(answer.status == 200)
    }

    @Test func `A second Host in a later request ends the connection after the answers before it`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        let good = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let bad = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n"
        try await connection.send(good + good + bad + good)
        let said = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(said.components(separatedBy: "HTTP/1.1 200 OK").count == 3)
        #expect(said.components(separatedBy: "HTTP/1.1 400 ").count <= 2)
    }

    @Test func `An address with too many connections is told so, and others are not`() async throws {
        let service = try await LiveService {
            $0.countsEveryAddress = true
            $0.connectionsPerAddressMax = 3
        }
        var held = try await busy(3, service)
        let refused = try await service.stranger.get("/healthz")
        #expect(refused.status == 503 && refused.code == "queue.full" && refused.text.contains("of this address"))
        held.removeLast()
        try await pollUntil("there is room again") {
            self.wake(service)
            return try await service.stranger.get("/healthz").status == 200
        }
    }

    @Test(arguments: [
        ("203.0.114.7", "203.0.114.7"), ("2a00:1450:4001:81b::200e", "2a00:1450:4001:81b::/64"),
        ("127.0.0.1", nil), ("::1", nil), ("10.1.2.3", nil), ("192.168.0.1", nil), ("100.64.0.1", nil),
        ("fd00::1", nil), ("::ffff:10.0.0.1", nil), (nil, nil),
    ])
    func `Addresses of the internet are counted, those that a proxy may have are not`(address: String?, key: String?) {
        #expect(ClientAddress.counted(address) == key)
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
        var held = try await busy(3, service)
        let refused = try await service.caller.get("/v1/jobs")
        #expect(refused.status == 503 && refused.code == "queue.full" && refused.field("retry-after") == "1")
        held.removeAll()
        try await pollUntil("there is room again") {
            self.wake(service)
            return try await service.caller.get("/v1/jobs").status == 200
        }
    }

    // MARK: Issue 19, item 9

    @Test func `Probes are answered when every connection is at work`() async throws {
        let service = try await LiveService { $0.connectionsMax = 3 }
        let held = try await busy(3, service)
        for path in ["/healthz", "/readyz", "/metrics"] {
            let answer = try await service.caller.get(path)
            #expect(answer.status == 200 && answer.field("connection") == "close", "\(path)")
        }
        #expect(try await service.caller.send("HEAD", "/healthz").status == 200)
        #expect(try await service.caller.get("/v1/jobs").status == 503)
        #expect(held.count == 3)
    }

    @Test func `The connection that was idle the longest makes room for a new one`() async throws {
        let service = try await LiveService { $0.connectionsMax = 3 }
        let idle = try (0..<3).map { _ in try RawConnection(port: service.port) }
        for connection in idle {
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = await connection.receive(until: "}")
        }
        try await pollUntil("one makes room") { try await service.caller.get("/v1/jobs").status == 200 }
        #expect(await idle[0].receiveAll().isEmpty)
        try await idle[2].send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await idle[2].receive(until: "}").hasPrefix("HTTP/1.1 200"))
    }

    @Test func `While the service drains it answers probes, and readiness says that it is leaving`() async throws {
        let gate = LoopbackGate()
        let service = try await LiveService(drain: gate)
        let idle = try RawConnection(port: service.port)
        try await idle.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = await idle.receive(until: "}")
        await service.beginToStop()
        #expect(await idle.receiveAll().isEmpty)
        for _ in 0..<2 {
            let ready = try await service.stranger.get("/readyz")
            #expect(ready.status == 503 && ready.object["reasons"] as? [String] == ["The service is stopping."])
            #expect(try await service.stranger.get("/healthz").status == 200)
        }
        let refused = try await service.caller.post("/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#)
        #expect(refused.status == 503 && refused.code == "queue.unavailable" && refused.field("retry-after") == "5")
        gate.open()
        try await service.ended()
    }

    /// Has listeners written to, so that those who have gone are noticed.
    private func wake(_ service: LiveService) {
        service.feed.publish((0..<50).map { _ in .init(job: .make(), state: .queued) })
    }

    /// Connections on which an answer is under way that does not end: listeners to events.
    private func busy(_ count: Int, _ service: LiveService) async throws -> [RawConnection] {
        var connections: [RawConnection] = []
        for _ in 0..<count {
            let connection = try RawConnection(port: service.port)
            try await connection.send("GET /v1/events HTTP/1.1\r\n\(Self.head)\r\n")
            _ = await connection.receive(until: ": listening")
            connections.append(connection)
        }
        return connections
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
