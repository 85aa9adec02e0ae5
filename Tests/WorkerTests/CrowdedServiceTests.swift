import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// More connections than there may be, on a real `attachprep serve`. Issue 19, item 9.
@Suite(.timeLimit(.minutes(3)), .serialized) struct CrowdedServiceTests {
    @Test func `Twelve hundred silent connections keep neither probes nor callers out`() async throws {
        let service = try await ServiceBench().start()
        let crowd = SocketCrowd()
        // A head that is never whole is silence as well.
        for number in 0..<1_200 {
            try crowd.join(service, saying: number.isMultiple(of: 3) ? "GET / HTTP/1.1\r\n" : "")
        }
        #expect(try await probes(service) == [200, 200, 200])
        for _ in 0..<5 { try await askUntil("one makes room") { await self.answers(service) } }
        try await service.stop()
        crowd.leave()
    }

    @Test func `Twelve hundred bodies that drip keep probes out never, and callers for some seconds`() async throws {
        let service = try await ServiceBench().start()
        let crowd = SocketCrowd()
        let head = "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"
        for _ in 0..<1_200 { try crowd.join(service, saying: head) }
        #expect(try await probes(service) == [200, 200, 200])
        for _ in 0..<5 {
            try await askUntil("one makes room") {
                crowd.drip()
                return await self.answers(service)
            }
        }
        #expect(try await probes(service) == [200, 200, 200])
        crowd.leave()
        try await service.stop()
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

/// Sockets that are opened and kept.
private final class SocketCrowd: @unchecked Sendable {
    // Sendable because one test uses it, one step after the other.
    private var sockets: [CInt] = []

    init() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    deinit { leave() }

    func join(_ service: RunningService, saying text: String) throws {
        let port = try #require(URL(string: service.url)?.port)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        sockets.append(descriptor)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(UInt16(port)).bigEndian
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0, "connect: \(errno)")
        if !text.isEmpty { _ = send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }
    }

    /// One more byte of each.
    func drip() {
        for descriptor in sockets { _ = send(descriptor, "x", 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT)) }
    }

    func leave() {
        for descriptor in sockets { close(descriptor) }
        sockets = []
    }
}
