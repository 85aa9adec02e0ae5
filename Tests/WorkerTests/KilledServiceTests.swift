import Crypto
import Foundation
import TestSupport
import Testing

/// `kill -9` of the service at any time: no job is lost, incomplete or stuck, and no file is without a job.
@Suite(.timeLimit(.minutes(20))) struct KilledServiceTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Jobs of all media kinds, each with its own result.
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

    /// Submits jobs from several clients while the service is killed repeatedly, and then checks jobs and files.
    private func run(kills: Int, jobs: Int, clients: Int) async throws {
        let origin = try LoopbackServer()
        let lines = try lines(jobs, from: origin)
        let submitter = JobSubmitter(lines: lines, clients: clients)
        var service = try await bench.start()
        submitter.begin(at: service.url)
        for number in 0..<kills {
            // Different delays, so that kills hit every step of a job.
            try await ServiceTimer.elapse(milliseconds: 30 + (number * 137) % 900)
            try await service.kill()
            service = try await bench.start()
            submitter.move(to: service.url)
        }
        let ids = try await submitter.finish()
        #expect(ids.count == jobs && Set(ids).count == jobs)
        // A job that was lost five times waits up to six minutes.
        try await service.client.allEnded(seconds: 500)
        try await check(ids, at: service)
        try await service.stop()
        #expect(try bench.leftovers() == [])
    }

    private func check(_ ids: [String], at service: RunningService) async throws {
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
        #expect(Set(kept) == digests, "files without a job, or missing files")
        for path in try bench.contents() {
            let data = Data(try bench.folder.bytes(of: path))
            let digest = SHA256.hash(data: data).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(path.hasSuffix(digest), "incomplete file: \(path)")
        }
    }

    @Test func `No job is lost by 8 kills while 3 clients send 200 jobs`() async throws {
        try await run(kills: 8, jobs: 200, clients: 3)
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"))
    func `No job is lost by 100 kills while 6 clients send 3,000 jobs`() async throws {
        try await run(kills: 100, jobs: 3_000, clients: 6)
    }
}
