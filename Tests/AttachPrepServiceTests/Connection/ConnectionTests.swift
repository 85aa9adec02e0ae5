import AttachPrepJobs
import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepService

struct ConnectionTests {
    private static let head = "Host: localhost\r\nAuthorization: Bearer \(LiveService.token)\r\n"

    /// A service with short timeouts.
    private func serviceWithShortTimeouts(_ connections: Int = 100) async throws -> LiveService {
        try await LiveService {
            $0.idleConnectionSecondsMax = 0.3
            $0.connectionsMax = connections
        }
    }

    @Test func `A connection without a request is closed`() async throws {
        let service = try await serviceWithShortTimeouts()
        let connection = try RawConnection(port: service.port)
        #expect(await connection.receiveAll().isEmpty)
    }

    @Test func `A connection that drips its header is closed`() async throws {
        let service = try await serviceWithShortTimeouts()
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
    func `A connection with a slow or missing body is closed`(drip: String) async throws {
        let service = try await serviceWithShortTimeouts()
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

    @Test func `A client that does not read its response is closed and uses no memory`() async throws {
        let service = try await serviceWithShortTimeouts()
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

    @Test func `Forty clients that stop reading buffer little of the file and are closed`() async throws {
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

    @Test func `A client that reads slowly receives the whole file`() async throws {
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
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 200 && response.body == content)
    }

    /// The URL path of a sparse file of 400 MB.
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
        ("two", "Host: localhost\r\nHost: evil.example"), ("two equal ones", "Host: localhost\r\nhost: localhost"),
        ("none", "Accept: */*"), ("an empty one", "Host:"), ("user info", "Host: a@b"), ("a path", "Host: a/b"),
        ("no port", "Host: a:x"), ("half an address", "Host: [::1"), ("a space", "Host: a b"),
    ])
    func `A request without exactly one valid Host is rejected`(name: String, fields: String) async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send("GET /healthz HTTP/1.1\r\n\(fields)\r\n\r\n")
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 400 && response.code == "request.invalid" && response.field("connection") == "close")
    }

    @Test(arguments: [
        "localhost", "a.example:8080", "127.0.0.1:1", "[::1]:8080", "a_b.example.", "xn--bcher-kva.example",
    ])
    func `A valid Host is accepted`(host: String) async throws {
        let response = try await LiveService().anonymous.get("/healthz", [("Host", host)])
        #expect(response.status == 200)
    }

    @Test func `A second Host in a pipelined request ends the connection after the earlier responses`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        let good = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let bad = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n"
        try await connection.send(good + good + bad + good)
        let received = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(received.components(separatedBy: "HTTP/1.1 200 OK").count == 3)
        #expect(received.components(separatedBy: "HTTP/1.1 400 ").count <= 2)
    }

    @Test func `Connections over the limit of an address are rejected`() async throws {
        let service = try await LiveService {
            $0.countsEveryAddress = true
            $0.connectionsPerAddressMax = 3
        }
        var connections = try await busyConnections(3, service)
        let refused = try await service.anonymous.get("/healthz")
        #expect(refused.status == 503 && refused.code == "queue.full" && refused.text.contains("of this address"))
        connections.removeLast()
        try await pollUntil("a connection is accepted again") {
            self.writeEvents(service)
            return try await service.anonymous.get("/healthz").status == 200
        }
    }

    @Test(arguments: [
        ("203.0.114.7", "203.0.114.7"), ("2a00:1450:4001:81b::200e", "2a00:1450:4001:81b::/64"),
        ("127.0.0.1", nil), ("::1", nil), ("10.1.2.3", nil), ("192.168.0.1", nil), ("100.64.0.1", nil),
        ("fd00::1", nil), ("::ffff:10.0.0.1", nil), (nil, nil),
    ])
    func `Public addresses are counted, those of possible proxies are not`(address: String?, key: String?) {
        #expect(ClientAddress.counted(address) == key)
    }

    @Test func `A header that is too long is rejected with a problem`() async throws {
        let service = try await LiveService()
        for head in [
            "GET / HTTP/1.1\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n",
            "GET / HTTP/1.1\r\n" + String(repeating: "X: 0123456789\r\n", count: 2_000) + "\r\n",
        ] {
            let connection = try RawConnection(port: service.port)
            try await connection.send(head)
            let response = try TestHTTPClient.response(await connection.receiveAll())
            #expect(response.status == 431 && response.code == "request.too_large")
            #expect(response.field("content-type") == "application/problem+json")
        }
    }

    @Test func `A request target that is too long is rejected`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send("GET /\(String(repeating: "x", count: 200_000)) HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect((400..<500).contains(response.status) && response.status != 404)
    }

    @Test(arguments: [
        "HELLO\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
        "POST /v1/jobs HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
    func `Invalid HTTP gets a problem and ends the connection`(text: String) async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(text)
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 400 && response.code == "request.invalid")
        #expect(response.field("connection") == "close")
    }

    @Test func `An invalid chunk gets one response`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "POST /v1/jobs HTTP/1.1\r\n\(Self.head)Content-Type: application/json\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
        let received = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(received.hasPrefix("HTTP/1.1 400 ") && received.components(separatedBy: "HTTP/1.1 400 ").count == 2)
    }

    @Test func `A connection carries many pipelined requests`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        let one = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let last = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        try await connection.send(String(repeating: one, count: 50) + last)
        let received = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(received.components(separatedBy: "HTTP/1.1 200 OK").count == 52)
    }

    @Test func `An HTTP 1.0 request gets a response and ends the connection`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send("GET /healthz HTTP/1.0\r\n\r\n")
        let received = String(decoding: await connection.receiveAll(), as: UTF8.self)
        #expect(received.hasPrefix("HTTP/1.0 200 OK") && received.hasSuffix("{\"status\":\"ok\"}"))
    }

    @Test func `A connection over the limit is rejected until another one ends`() async throws {
        let service = try await LiveService { $0.connectionsMax = 3 }
        var connections = try await busyConnections(3, service)
        let refused = try await service.caller.get("/v1/jobs")
        #expect(refused.status == 503 && refused.code == "queue.full" && refused.field("retry-after") == "1")
        connections.removeAll()
        try await pollUntil("a connection is accepted again") {
            self.writeEvents(service)
            return try await service.caller.get("/v1/jobs").status == 200
        }
    }

    // MARK: Issue 19, item 9

    @Test func `Probes are answered when all connections are in use`() async throws {
        let service = try await LiveService { $0.connectionsMax = 3 }
        let connections = try await busyConnections(3, service)
        for path in ["/healthz", "/readyz", "/metrics"] {
            let response = try await service.caller.get(path)
            #expect(response.status == 200 && response.field("connection") == "close", "\(path)")
        }
        #expect(try await service.caller.send("HEAD", "/healthz").status == 200)
        #expect(try await service.caller.get("/v1/jobs").status == 503)
        #expect(connections.count == 3)
    }

    @Test func `The longest idle connection is evicted for a new one`() async throws {
        let service = try await LiveService { $0.connectionsMax = 3 }
        let idle = try (0..<3).map { _ in try RawConnection(port: service.port) }
        for connection in idle {
            try await connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = await connection.receive(until: "}")
        }
        try await pollUntil("one is evicted") { try await service.caller.get("/v1/jobs").status == 200 }
        #expect(await idle[0].receiveAll().isEmpty)
        try await idle[2].send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(await idle[2].receive(until: "}").hasPrefix("HTTP/1.1 200"))
    }

    @Test func `While draining, the service answers probes and is not ready`() async throws {
        let gate = LoopbackGate()
        let service = try await LiveService(drain: gate)
        let idle = try RawConnection(port: service.port)
        try await idle.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = await idle.receive(until: "}")
        await service.beginToStop()
        #expect(await idle.receiveAll().isEmpty)
        for _ in 0..<2 {
            let ready = try await service.anonymous.get("/readyz")
            #expect(ready.status == 503 && ready.object["reasons"] as? [String] == ["The service is stopping."])
            #expect(try await service.anonymous.get("/healthz").status == 200)
        }
        let refused = try await service.caller.post("/v1/jobs", json: #"{"source": "https://a.example/1.png"}"#)
        #expect(refused.status == 503 && refused.code == "queue.unavailable" && refused.field("retry-after") == "5")
        gate.open()
        try await service.ended()
    }

    /// Writes to the event listeners, so that disconnected ones are detected.
    private func writeEvents(_ service: LiveService) {
        service.feed.publish((0..<50).map { _ in .init(job: .make(), state: .queued) })
    }

    /// Connections with a response that does not end: event streams.
    private func busyConnections(_ count: Int, _ service: LiveService) async throws -> [RawConnection] {
        var connections: [RawConnection] = []
        for _ in 0..<count {
            let connection = try RawConnection(port: service.port)
            try await connection.send("GET /v1/events HTTP/1.1\r\n\(Self.head)\r\n")
            _ = await connection.receive(until: ": listening")
            connections.append(connection)
        }
        return connections
    }

    @Test func `A request in progress is finished when the service stops`() async throws {
        let service = try await LiveService()
        let connection = try RawConnection(port: service.port)
        try await connection.send(
            "POST /v1/uploads HTTP/1.1\r\n\(Self.head)Content-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        _ = await connection.receive(until: "100 Continue\r\n\r\n")
        let idle = try RawConnection(port: service.port)
        await service.beginToStop()
        #expect(await idle.receiveAll().isEmpty)
        try await connection.send("hello")
        let response = try TestHTTPClient.response(await connection.receiveAll())
        #expect(response.status == 201 && response.field("connection") == "close")
        try await service.ended()
    }

    private static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4096
    }
}
