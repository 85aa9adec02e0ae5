import Crypto
import Foundation
import TestSupport
import Testing

/// Kills of workers and of the database while they work: every job succeeds, and every file is complete.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"), .timeLimit(.minutes(15)))
struct SharedQueueKillTests {
    let shared: SharedQueueBench

    init() async throws {
        shared = try await SharedQueueBench(try await PostgresServer.start(isDurable: true))
    }

    private func start(_ name: String, _ options: [String] = []) async throws -> RunningService {
        try await shared.start(name, options, timeoutSeconds: 900)
    }

    /// Jobs of all media kinds, each with its own source.
    private func lines(_ count: Int, from origin: LoopbackServer) throws -> [String] {
        let samples = ["grid.jpg", "grid.png", "grid.webp", "grid.heic", "counter.gif", "cover.mp3", "clock.mp4"]
        return try (0..<count).map { number in
            let sample = samples[number % samples.count]
            let body = try Data(contentsOf: URL(filePath: SourceTree.sample(sample)))
            origin.serve("/\(number)/\(sample)", .body(body, type: "image/jpeg"))
            return #"{"source": "\#(origin.url("/\(number)/\(sample)"))"}"#
        }
    }

    @Test func `No job is lost when workers and the database are killed while they work`() async throws {
        let origin = try LoopbackServer()
        let front = try await start("serve", ["--accept-only"])
        var workers = [try await start("worker"), try await start("worker")]
        let submitter = JobSubmitter(lines: try lines(120, from: origin), clients: 3)
        submitter.begin(at: front.url)
        for round in 0..<8 {
            try await ServiceTimer.elapse(milliseconds: 400 + (round * 137) % 900)
            try await workers[round % 2].kill()
            if round == 2 || round == 5 {
                try await shared.server.kill()
                try await shared.server.startAgain()
            }
            workers[round % 2] = try await start("worker")
        }
        let ids = try await submitter.finish()
        #expect(Set(ids).count == 120)
        try await front.client.allEnded(seconds: 300)
        try await check(ids, at: front)
        for process in workers + [front] { try await process.stop() }
    }

    private func check(_ ids: [String], at service: RunningService) async throws {
        let known = try await service.client.jobs()
        #expect(Set(known.map(\.id)) == Set(ids))
        let unsuccessful = known.filter { $0.state != "succeeded" }
        #expect(unsuccessful.isEmpty, "\(unsuccessful.prefix(3).map(\.json))")
        for job in known {
            for name in ["attachment", "thumbnail"] {
                guard let file = job.file(name) else { continue }
                let key = file.url.components(separatedBy: "/\(ObjectStore.bucket)/").last ?? ""
                let object = try await shared.store.object(key)
                let digest = SHA256.hash(data: object.body).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                #expect(object.status == 200 && digest.joined() == file.sha256, "\(file.url)")
            }
        }
    }
}
