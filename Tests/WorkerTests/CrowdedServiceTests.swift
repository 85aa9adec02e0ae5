import Foundation
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
        for _ in 0..<5 {
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
