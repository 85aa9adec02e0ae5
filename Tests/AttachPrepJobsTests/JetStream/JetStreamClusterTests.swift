import AttachPrep
import AttachPrepJobs
import Foundation
import TestSupport
import Testing

/// Three servers, and what happens to them: every job ends exactly once, none is lost, none stays.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"), .timeLimit(.minutes(10)))
struct JetStreamClusterTests {
    @Test func `nothing happens`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 200) { _ in }
        #expect(ended.allSatisfy { $0 == 1 })
    }

    @Test func `workers forget jobs, as if they were killed`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 200, forgetting: 0.1) { _ in }
        #expect(ended.allSatisfy { $0 == 1 })
    }

    @Test(arguments: 0..<3) func `a server is killed, and comes back`(_ number: Int) async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            load.cluster.servers[number].kill()
            try await ClusterLoad.untilLeasesAreOver()
            try await load.cluster.servers[number].restart()
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }

    @Test func `servers are killed one after another, and come back`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 300) { load in
            for server in load.cluster.servers + load.cluster.servers {
                try await load.untilEnded(load.ended.count + 10)
                server.kill()
                try await ClusterLoad.untilLeasesAreOver()
                try await server.restart()
            }
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }

    @Test func `a server is cut off for longer than a lease`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            load.cluster.servers[0].send(SIGSTOP)
            try await ClusterLoad.untilLeasesAreOver()
            load.cluster.servers[0].send(SIGCONT)
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }

    @Test func `all servers are killed at once, and come back`() async throws {
        let load = try await ClusterLoad(machines: 2)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            for server in load.cluster.servers { server.kill() }
            for server in load.cluster.servers { try await server.restart() }
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }

    @Test(.enabled(if: getuid() == 0, "mounts a disk"))
    func `the disk of a server is full`() async throws {
        let load = try await ClusterLoad(machines: 2, diskMegabytes: 24)
        let ended = try await load.run(jobs: 300) { load in
            try await load.untilEnded(50)
            // What callers sent is what fills disks.
            for _ in 0..<8 { try await load.upload(bytes: 4_000_000) }
        }
        #expect(ended.allSatisfy { $0 <= 1 } && ended.count == 300)
    }
}
