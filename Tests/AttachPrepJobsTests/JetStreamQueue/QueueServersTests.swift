import Foundation
import NATS
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel
@testable import JetStreamQueue

@Suite struct QueueServersTests {
    @Test(arguments: [
        ("nats://a", ["nats://a"]), ("nats://a:4222,b:5222,nats://c", ["nats://a:4222", "nats://b:5222", "nats://c"]),
        ("tls://a,tls://b:1", ["tls://a", "tls://b:1"]),
        ("nats://[::1]:4222,[fe80::1]", ["nats://[::1]:4222", "nats://[fe80::1]"]),
        ("nats://me:word@a", ["nats://me:word@a"]),
    ])
    func `Servers are written as for NATS' own tools`(text: String, servers: [String]) throws {
        #expect(try QueueServers(text).settings.servers == servers)
    }

    @Test(arguments: [
        "nats://", "nats://a,", "nats://a:b", "nats://a:0", "nats://a:70000", "nats://a b", "nats://a/x", "nats://[::1",
        "nats://[::1]x", "nats://a?x", "nats://größe", "nats://\u{200D}a", "nats://me:word@\u{200D}a", "a\r\nb",
    ])
    func `Invalid servers are rejected`(text: String) {
        #expect(throws: AttachPrepError.self) { try QueueServers(text) }
    }

    @Test func `One TLS server enables TLS for all servers`() throws {
        #expect(
            try QueueServers("nats://a,tls://b").settings.tls != nil && QueueServers("nats://a").settings.tls == nil)
    }

    @Test func `The description omits credentials`() throws {
        #expect("\(try QueueServers("nats://me:word@a:1,tls://b"))" == "nats://a:1,tls://b")
    }
}

@Suite struct NKeySeedTests {
    @Test func `The public key is derived from the seed`() throws {
        let seed = "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2RI"
        let file = "-----BEGIN USER NKEY SEED-----\n\(seed)\n------END USER NKEY SEED------\n"
        let key = "UCRJD4LNYFETBCRP4KONQ3BQD7HT33I27CWTNBKOBCJG7YTXH7TSLOGO"
        #expect(try NKeySeed(seed).publicKey == key && NKeySeed(file).publicKey == key)
    }

    @Test(arguments: [
        "", "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2RA",
        "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2R", "SU1", "SU",
        "UCRJD4LNYFETBCRP4KONQ3BQD7HT33I27CWTNBKOBCJG7YTXH7TSLOGO",
    ])
    func `Invalid seeds are rejected`(text: String) {
        #expect(throws: AttachPrepError.self) { try NKeySeed(text) }
    }
}

/// Issue 19: server versions whose replicas of a stream diverge are rejected, on every connection.
@Suite(.timeLimit(.minutes(1))) struct ServerVersionTests {
    private func servers(_ relay: NATSRelay) -> QueueServers {
        QueueServers(NATSSettings(servers: [relay.url]))
    }

    @Test func `A server below the minimum version is rejected, with both versions and the option in the message`()
        async throws
    {
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

    @Test(arguments: ["2.11.5", "2.12.0", "3.0.0"]) func `Newer servers are accepted`(version: String) async throws {
        let relay = try NATSRelay(to: try await NATSServer.start(), version: version)
        let queue = try await NATSJobQueue.open(servers(relay), feed: JobFeed())
        #expect(queue.unavailableReason == nil)
        await queue.close()
    }

    @Test func `An operator can allow an older server`() async throws {
        let relay = try NATSRelay(to: try await NATSServer.start(), version: "2.9.10")
        var named = servers(relay)
        named.allowsDivergingServer = true
        let queue = try await NATSJobQueue.open(named, feed: JobFeed())
        #expect(queue.unavailableReason == nil)
        #expect(try await queue.enqueue([.sample()], idempotency: nil).jobs.count == 1)
        await queue.close()
    }

    @Test func `A server that the connection moves to is checked as well`() async throws {
        let relay = try NATSRelay(to: try await NATSServer.start(), version: "2.12.8")
        let queue = try await NATSJobQueue.open(servers(relay), feed: JobFeed())
        relay.changeVersion(to: "2.9.10")
        try await waitUntil("the server is rejected") { queue.unavailableReason?.contains("2.9.10") ?? false }
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await queue.enqueue([.sample()], idempotency: nil)
        }
        #expect(error?.message.contains("2.11.5") == true, "\(error?.message ?? "")")
        let claim = await #expect(throws: AttachPrepError.self) {
            _ = try await queue.claim(1, by: "worker", lease: .seconds(15), hostLimit: 1)
        }
        #expect(claim?.message == error?.message)
        relay.changeVersion(to: "2.15.1")
        try await waitUntil("the server is accepted") { queue.unavailableReason == nil }
        #expect(try await queue.enqueue([.sample()], idempotency: nil).jobs.count == 1)
        await queue.close()
    }

    @Test func `The diagnostics report each server with its version, and those that are too old`() async throws {
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

    private func monitored(_ sync: String) async throws -> (NATSServer, port: Int) {
        let port = try NATSServer.freePort()
        let server = try await NATSServer.start("http: \"127.0.0.1:\(port)\"", jetStream: sync)
        return (server, port)
    }

    @Test func `The diagnostics report that a server flushes acknowledged jobs at once`() async throws {
        let (server, port) = try await monitored("sync_interval: always")
        let found = try await QueueDiagnostics(
            of: QueueServers(NATSSettings(servers: [server.url])), monitoringPort: port)
        #expect(found.servers.first?.diskSync?.intervalSeconds == 0 && found.warnings.isEmpty, "\(found.warnings)")
    }

    @Test(arguments: [("", 120.0), ("sync_interval: 10s", 10)])
    func `The diagnostics warn of jobs that are flushed later`(sync: String, seconds: Double) async throws {
        let (server, port) = try await monitored(sync)
        let found = try await QueueDiagnostics(
            of: QueueServers(NATSSettings(servers: [server.url])), monitoringPort: port)
        #expect(found.servers.first?.diskSync?.intervalSeconds == seconds)
        #expect(found.warnings.count == 1 && found.warnings[0].contains("up to \(Int(seconds)) s"), "\(found.warnings)")
        #expect(found.warnings[0].contains("of the server") && found.isUsable && found.faults.isEmpty)
    }

    @Test func `Without the monitoring endpoint, the diagnostics name what to check`() async throws {
        let server = try await NATSServer.start()
        let found = try await QueueDiagnostics(
            of: QueueServers(NATSSettings(servers: [server.url])), monitoringPort: NATSServer.freePort())
        #expect(found.warnings.count == 1 && found.warnings[0].contains("check sync_interval"), "\(found.warnings)")
    }

    @Test(arguments: [
        ("{\"server_id\": \"A\", \"config\": {\"sync_interval\": 120000000000}}", 120.0),
        ("{\"server_id\": \"A\", \"config\": {\"sync_interval\": 120000000000, \"sync_always\": true}}", 0),
        ("{\"server_id\": \"A\", \"jetstream\": {\"config\": {\"sync_interval\": 1e9}}}", 1),
        ("{\"server_id\": \"B\", \"config\": {\"sync_interval\": 1}}", nil),
        ("{\"server_id\": \"A\", \"config\": {\"sync_interval\": -1}}", nil),
        ("{\"server_id\": \"A\", \"config\": {}}", nil), ("not JSON", nil),
    ])
    func `The monitoring response of the queue's own server is read`(json: String, seconds: Double?) {
        #expect(DiskSync(Array(json.utf8), serverID: "A")?.intervalSeconds == seconds)
    }

    @Test(arguments: [
        ("nats://n1:4222", "n1"), ("tls://10.0.0.1:4222", "10.0.0.1"), ("nats://[::1]:4222", "[::1]"), ("n1", "n1"),
        ("nats://", nil),
    ])
    func `The monitoring endpoint is on the server's host`(address: String, host: String?) {
        #expect(QueueDiagnostics.host(of: address) == host)
    }

    @Test func `The diagnostics count a server with two addresses once`() async throws {
        let server = try await NATSServer.start()
        var servers = QueueServers(NATSSettings(servers: [server.url, "nats://localhost:\(server.port)"]))
        servers.replicas = 2
        let faults = try await QueueDiagnostics(of: servers).faults
        #expect(faults.contains { $0.contains("--queue-replicas 2 needs 2 NATS servers") }, "\(faults)")
    }
}
