import Foundation
import Synchronization
import TestSupport
import Testing

/// More connections than the limit, on a real `attachprep serve`. Issue 19, item 9.
@Suite(.timeLimit(.minutes(3)), .serialized) struct ConnectionFloodTests {
    @Test func `With 1,200 idle connections, probes and clients are still served`() async throws {
        let service = try await ServiceBench().start()
        try await service.untilReady()
        // A connection with an incomplete request head is idle, too.
        let connections = try connections(to: service) { $0.isMultiple(of: 3) ? "GET / HTTP/1.1\r\n" : "" }
        #expect(try await probes(service) == [200, 200, 200])
        for _ in 0..<5 { try await pollUntil("a request is served") { await self.isServing(service) } }
        try await service.stop()
        withExtendedLifetime(connections) {}
    }

    @Test func `With 1,200 slow uploads, probes are served at once, and clients within seconds`() async throws {
        let service = try await ServiceBench().start()
        try await service.untilReady()
        let head = "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
        let connections = try connections(to: service) { _ in head }
        #expect(try await probes(service) == [200, 200, 200])
        for _ in 0..<2 {
            try await pollUntil("a request is served") {
                for socket in connections { socket.offer("x") }
                return await self.isServing(service)
            }
        }
        #expect(try await probes(service) == [200, 200, 200])
        withExtendedLifetime(connections) {}
        try await service.stop()
    }

    /// Opens 1,200 connections, each of which sends the given text.
    private func connections(to service: RunningService, sending text: (Int) -> String) throws -> [RawConnection] {
        raiseOpenFileLimit()
        let port = try #require(URL(string: service.url)?.port)
        return try (0..<1_200).map { number in
            let socket = try RawConnection(port: port)
            socket.offer(text(number))
            return socket
        }
    }

    private func probes(_ service: RunningService) async throws -> [Int] {
        var statuses: [Int] = []
        for path in ["/healthz", "/readyz", "/metrics"] {
            statuses.append(try await service.client.send("GET", path, headers: ["Connection": "close"]).status)
        }
        return statuses
    }

    /// Whether the service answers a request for jobs.
    private func isServing(_ service: RunningService) async -> Bool {
        (try? await service.client.send("GET", "/v1/jobs", headers: ["Connection": "close"]).status) == 200
    }
}

/// Clients of the real service that request a file and never read the response (issue 18).
@Suite(.timeLimit(.minutes(3))) struct UnreadResponseTests {
    private static let isLong = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil

    /// 4.4 MB of silence: more than the memory of a connection, and attachable without conversion.
    private static let audio: [UInt8] = {
        let samples = 44_100 * 2 * 2 * 25
        var bytes = Array("RIFF".utf8) + little(UInt32(samples + 36)) + Array("WAVEfmt ".utf8) + little(16)
        // PCM, two channels, 44,100 samples per second, 16 bits.
        bytes += [1, 0, 2, 0] + little(44_100) + little(44_100 * 4) + [4, 0, 16, 0]
        return bytes + Array("data".utf8) + little(UInt32(samples)) + [UInt8](repeating: 0, count: samples)
    }()

    private static func little(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    @Test func `Clients that stop reading cost less than 100 KB each, freed when they disconnect`() async throws {
        let readers = Self.isLong ? 1_000 : 200
        raiseOpenFileLimit()
        let bench = try ServiceBench()
        let origin = try LoopbackServer()
        try bench.folder.makeFolder("files")
        try bench.folder.write(Self.audio, to: "files/silence.wav")
        try origin.serve(folder: URL(fileURLWithPath: bench.folder.path("files"), isDirectory: true))
        let service = try await bench.start(["--connections", "1100"])
        let id = try await service.client.submit(#"{"source": "\#(origin.url("/silence.wav"))"}"#)
        let file = try #require(try await service.client.ended(id).file("attachment"))
        let url = try #require(URL(string: file.url))
        let before = try Self.resident(service)
        let port = try #require(url.port)
        var sockets = try (0..<readers).map { _ in
            let socket = try RawConnection(port: port, receiveBuffer: 4_096)
            socket.offer("GET \(url.path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return socket
        }
        // Stable memory means that all responses wait for their readers.
        try await Self.waitForStableMemory(service)
        let held = try Self.resident(service)
        #expect(held - before < readers * 100_000, "\(readers) readers cost \(held - before) bytes")
        #expect(try await service.client.get("/healthz").status == 200)
        sockets.removeAll()
        try await pollUntil("their memory is freed", seconds: 30) {
            try Self.resident(service) - before < 15_000_000
        }
        try await service.stop()
    }

    /// Waits until the memory of the service has been stable for a second.
    private static func waitForStableMemory(_ service: RunningService) async throws {
        let seen = Mutex<[Int]>([])
        try await pollUntil("the memory of the service is stable") {
            let now = try resident(service)
            return seen.withLock { seen in
                seen.append(now)
                guard seen.count > 20, let most = seen.suffix(20).max(), let least = seen.suffix(20).min() else {
                    return false
                }
                return most - least < 500_000
            }
        }
    }

    private static func resident(_ service: RunningService) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(service.running.processID)/statm", encoding: .utf8)
        return (Int(text.split(separator: " ")[1]) ?? 0) * 4_096
    }
}
