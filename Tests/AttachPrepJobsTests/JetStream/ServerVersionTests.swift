import Foundation
import NATS
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

/// Issue 19: servers whose copies of a stream diverge are refused, wherever the connection finds one.
@Suite(.timeLimit(.minutes(1))) struct ServerVersionTests {
    private func servers(_ relay: NATSRelay) -> QueueServers {
        QueueServers(NATSSettings(servers: [relay.url]))
    }

    @Test func `a server below the least version is refused, and the sentence has both and the option`() async throws {
        let relay = try NATSRelay(to: try await NATSServer.start(), version: "2.9.10")
        let error = await #expect(throws: AttachPrepError.self) {
            let queue = try await NATSJobQueue.open(servers(relay), feed: JobFeed())
            await queue.close()
        }
        let message = error?.message ?? ""
        #expect(error?.code == .queueUnavailable && error?.isRetryable == false)
        #expect(message.contains("2.9.10") && message.contains("2.11.5"), "\(message)")
        #expect(message.contains("ATTACHPREP_QUEUE_ALLOW_DIVERGING_SERVER"), "\(message)")
    }

    @Test(arguments: ["2.11.5", "2.12.0", "3.0.0"]) func `newer servers are taken`(version: String) async throws {
        let relay = try NATSRelay(to: try await NATSServer.start(), version: version)
        let queue = try await NATSJobQueue.open(servers(relay), feed: JobFeed())
        #expect(queue.fault == nil)
        await queue.close()
    }

    @Test func `an operator may take an older one at his risk`() async throws {
        let relay = try NATSRelay(to: try await NATSServer.start(), version: "2.9.10")
        var named = servers(relay)
        named.allowsDivergingServer = true
        let queue = try await NATSJobQueue.open(named, feed: JobFeed())
        #expect(queue.fault == nil)
        #expect(try await queue.enqueue([.sample()], idempotency: nil).jobs.count == 1)
        await queue.close()
    }

    @Test func `a server that the connection moves to is looked at as well`() async throws {
        let relay = try NATSRelay(to: try await NATSServer.start(), version: "2.12.8")
        let queue = try await NATSJobQueue.open(servers(relay), feed: JobFeed())
        relay.become("2.9.10")
        try await waitUntil("it is refused") { queue.fault?.contains("2.9.10") ?? false }
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await queue.enqueue([.sample()], idempotency: nil)
        }
        #expect(error?.message.contains("2.11.5") == true, "\(error?.message ?? "")")
        let claim = await #expect(throws: AttachPrepError.self) {
            _ = try await queue.claim(1, by: "worker", lease: .seconds(15), hostLimit: 1)
        }
        #expect(claim?.message == error?.message)
        relay.become("2.15.1")
        try await waitUntil("it is taken") { queue.fault == nil }
        #expect(try await queue.enqueue([.sample()], idempotency: nil).jobs.count == 1)
        await queue.close()
    }

    @Test func `the doctor names each server with its version, and those that are too old`() async throws {
        let server = try await NATSServer.start()
        let relay = try NATSRelay(to: server, version: "2.9.10")
        var both = QueueServers(NATSSettings(servers: [server.url, relay.url]))
        let found = try await QueueDiagnostics(of: both)
        let versions = Dictionary(uniqueKeysWithValues: found.servers.map { ($0.address, $0.version) })
        #expect(versions[relay.url] == "2.9.10" && versions[server.url] != "2.9.10", "\(versions)")
        #expect(found.faults.count == 1 && found.faults[0].contains(relay.url), "\(found.faults)")
        both.allowsDivergingServer = true
        #expect(try await QueueDiagnostics(of: both).faults.isEmpty)
    }

    @Test func `the doctor counts a server with two addresses once`() async throws {
        let server = try await NATSServer.start()
        var servers = QueueServers(NATSSettings(servers: [server.url, "nats://localhost:\(server.port)"]))
        servers.replicas = 2
        let faults = try await QueueDiagnostics(of: servers).faults
        #expect(faults.contains { $0.contains("--queue-replicas 2 needs 2 NATS servers") }, "\(faults)")
    }
}
