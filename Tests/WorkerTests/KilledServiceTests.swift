import Crypto
import Foundation
import TestSupport
import Testing

/// kill -9 at any moment: no job lost, none half done, none stuck, no file that no job owns.
@Suite(.timeLimit(.minutes(20))) struct KilledServiceTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Jobs of all kinds, each with its own result.
    private func lines(_ count: Int, from origin: LoopbackServer) throws -> [String] {
        let samples = ["grid.jpg", "grid.png", "grid.webp", "grid.heic", "counter.gif", "cover.mp3", "clock.mp4"]
        for sample in samples {
            let body = try Data(contentsOf: URL(filePath: SourceTree.sample(sample)))
            for number in 0..<count { origin.serve("/\(number)/\(sample)", .body(body, type: "image/jpeg")) }
        }
        return (0..<count).map { number in
            let sample = samples[number % samples.count]
            let width = 50 + number % 200
            return #"{"source": "\#(origin.url("/\(number)/\(sample)"))", "#
                + #""options": {"thumbnailSize": {"width": \#(width), "height": 100}}}"#
        }
    }

    /// Submits jobs from several callers while the service is killed again and again; then counts.
    private func run(kills: Int, jobs: Int, callers: Int) async throws {
        let origin = try LoopbackServer()
        let lines = try lines(jobs, from: origin)
        let submission = Submission(lines: lines, callers: callers)
        var service = try await bench.start()
        submission.begin(at: service.url)
        for number in 0..<kills {
            // Each time a little later than the last, so that every step of a job's life is met.
            try await ServiceTimer.elapse(milliseconds: 30 + (number * 137) % 900)
            try await service.kill()
            service = try await bench.start()
            submission.move(to: service.url)
        }
        let ids = try await submission.finish()
        #expect(ids.count == jobs && Set(ids).count == jobs)
        try await service.client.allEnded(seconds: 300)
        try await count(ids, at: service)
        try await service.stop()
        #expect(try bench.leftovers() == [])
    }

    private func count(_ ids: [String], at service: RunningService) async throws {
        let known = try await service.client.jobs()
        #expect(Set(known.map(\.id)) == Set(ids))
        let unsuccessful = known.filter { $0.state != "succeeded" }
        #expect(unsuccessful.isEmpty, "\(unsuccessful.prefix(3).map(\.json))")
        var digests: Set<String> = []
        for job in known {
            for name in ["attachment", "thumbnail", "crop"] {
                guard let file = job.result?[name] as? [String: Any], let digest = file["sha256"] as? String else {
                    continue
                }
                digests.insert(digest)
            }
        }
        let kept = try bench.contents().map { String($0.suffix(64)) }
        #expect(Set(kept) == digests, "files that no job owns, or that are missing")
        for path in try bench.contents() {
            let data = Data(try bench.folder.bytes(of: path))
            let digest = SHA256.hash(data: data).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(path.hasSuffix(digest), "half a file: \(path)")
        }
    }

    @Test func `Eight kills while three callers send 200 jobs lose nothing`() async throws {
        try await run(kills: 8, jobs: 200, callers: 3)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"))
    func `A hundred kills while six callers send 3,000 jobs lose nothing`() async throws {
        try await run(kills: 100, jobs: 3_000, callers: 6)
    }
}
