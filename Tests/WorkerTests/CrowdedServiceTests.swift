import Foundation
import TestSupport
import Testing

/// More connections than there may be, on a real `attachprep serve`. Issue 19, item 9.
@Suite(.timeLimit(.minutes(3)), .serialized) struct CrowdedServiceTests {
    @Test func `Twelve hundred silent connections keep neither probes nor callers out`() async throws {
        let service = try await ServiceBench().start()
        try await service.untilReady()
        // A head that is never whole is silence as well.
        let crowd = try crowd(of: service) { $0.isMultiple(of: 3) ? "GET / HTTP/1.1\r\n" : "" }
        #expect(try await probes(service) == [200, 200, 200])
        for _ in 0..<5 { try await askUntil("one makes room") { await self.answers(service) } }
        try await service.stop()
        withExtendedLifetime(crowd) {}
    }

    @Test func `Twelve hundred bodies that drip keep probes out never, and callers for some seconds`() async throws {
        let service = try await ServiceBench().start()
        try await service.untilReady()
        let head = "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
        let crowd = try crowd(of: service) { _ in head }
        #expect(try await probes(service) == [200, 200, 200])
        for _ in 0..<5 {
            try await askUntil("one makes room") {
                for socket in crowd { socket.offer("x") }
                return await self.answers(service)
            }
        }
        #expect(try await probes(service) == [200, 200, 200])
        withExtendedLifetime(crowd) {}
        try await service.stop()
    }

    /// Twelve hundred connections, each of which has said that much.
    private func crowd(of service: RunningService, saying text: (Int) -> String) throws -> [RawConnection] {
        raiseOpenFiles()
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

    /// Whether a caller gets what he asks for.
    private func answers(_ service: RunningService) async -> Bool {
        (try? await service.client.send("GET", "/v1/jobs", headers: ["Connection": "close"]).status) == 200
    }
}
