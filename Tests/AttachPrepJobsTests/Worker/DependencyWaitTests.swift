import AttachPrep
import AttachPrepModel
import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrepJobs

/// What a worker does while something that its jobs need is away.
@Suite(.timeLimit(.minutes(2))) struct DependencyWaitTests {
    private let target = UnreliableTarget()

    /// A bench whose results are published to `target`.
    private func bench(_ change: (inout WorkerSettings) -> Void = { _ in }) async throws -> WorkerBench {
        let target = target
        return try await WorkerBench({
            $0.retries.attemptsMax = 1
            change(&$0)
        }) { output in
            ScriptedPreparer(output: output, keepsFolders: false, probe: { _ in try target.check() }) { task, _ in
                target.publish(task.prepared(in: output))
            }
        }
    }

    @Test func `Results that are rendered while the bucket is away are published later, without a second download`()
        async throws
    {
        let bench = try await bench { $0.concurrency = 3 }
        target.setAway(AttachPrepError(.publishUnavailable, "The bucket is away."))
        let ids = try await bench.store.enqueue((0..<8).map { .sample(key: "\($0)") }, idempotency: nil).jobs.map(\.id)
        try await bench.working { worker in
            try await pollUntil("all slots hold a result") { worker.heldResultsCount == 3 }
            #expect(worker.health == .unavailable("Jobs wait for the bucket: The bucket is away."))
            #expect(worker.outages == [DependencyOutage(.bucket, reason: "The bucket is away.")])
            target.setAway(nil)
            for id in ids { try await bench.ended(id) }
            #expect(worker.health == .ok && worker.heldResultsCount == 0)
        }
        let jobs = try await bench.store.list(JobFilter(), after: nil, limit: 9).jobs
        #expect(jobs.map(\.state) == Array(repeating: .succeeded, count: 8))
        #expect(jobs.map(\.attempts) == Array(repeating: 1, count: 8))
        #expect(bench.tasks.count == 8 && target.discardedCount == 3)
    }

    @Test func `No more results wait than the media quota holds`() async throws {
        // Each result has four bytes.
        let bench = try await bench {
            $0.concurrency = 3
            $0.heldBytesMax = 8
        }
        target.setAway(AttachPrepError(.publishUnavailable, "The bucket is away."))
        let ids = try await bench.enqueue(.sample(key: "a"), .sample(key: "b"), .sample(key: "c"))
        try await bench.working { worker in
            try await pollUntil("one result was given up") { bench.tasks.count == 3 && target.discardedCount == 1 }
            #expect(worker.heldResultsCount == 2)
            target.setAway(nil)
            for id in ids { #expect(try await bench.ended(id).attempts == 1) }
        }
        #expect(bench.tasks.count == 4)
    }

    @Test(arguments: [ErrorCode.publishDenied, .publishNotFound])
    func `A key or bucket that is rejected makes jobs wait as well`(code: ErrorCode) async throws {
        let bench = try await bench()
        target.setAway(AttachPrepError(code, "Mend it."))
        let id = try await bench.enqueue(.sample())[0]
        try await bench.working { worker in
            try await pollUntil("the result waits") { worker.heldResultsCount == 1 }
            target.setAway(nil)
            #expect(try await bench.ended(id).state == .succeeded)
        }
    }

    @Test func `A wait for the bucket ends at the job's notAfter`() async throws {
        let bench = try await bench()
        target.setAway(AttachPrepError(.publishUnavailable, "The bucket is away."))
        var submission = JobSubmission.sample()
        submission.request.jobOptions.notAfter = .now + 1.5
        let id = try await bench.enqueue(submission)[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .failed && job.error?.code == .deadlineNotAfter)
    }

    @Test func `A wait for the bucket ends after the retention`() async throws {
        let bench = try await bench { $0.retentionSeconds = 1 }
        target.setAway(AttachPrepError(.publishUnavailable, "The bucket is away."))
        let id = try await bench.enqueue(.sample())[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .dead && job.error?.code == .publishUnavailable)
    }

    @Test func `A queued job ends at its notAfter although nothing is claimed`() async throws {
        let bench = try await bench { $0.concurrency = 1 }
        target.setAway(AttachPrepError(.publishUnavailable, "The bucket is away."))
        _ = try await bench.enqueue(.sample())
        try await bench.working { worker in
            try await pollUntil("the only slot holds a result") { worker.heldResultsCount == 1 }
            var submission = JobSubmission.sample()
            submission.request.jobOptions.notAfter = .now + 1
            let id = try await bench.enqueue(submission)[0]
            #expect(try await bench.ended(id).error?.code == .deadlineNotAfter)
        }
    }

    @Test func `A result that alone is not taken is the failure of its job`() async throws {
        let bench = try await bench { $0.concurrency = 2 }
        target.reject("bad", AttachPrepError(.publishUnavailable, "The bucket is away."))
        let bad = try await bench.enqueue(.sample(id: "bad"))[0]
        try await bench.working { worker in
            try await pollUntil("the result waits") { worker.heldResultsCount == 1 }
            let others = Task {
                while !Task.isCancelled { try await bench.ended(try await bench.enqueue(.sample())[0]) }
            }
            let job = try await bench.ended(bad)
            others.cancel()
            _ = await others.result
            #expect(job.state == .dead && job.error?.code == .publishUnavailable)
        }
    }

    @Test func `A worker that shuts down returns jobs whose results wait`() async throws {
        let bench = try await bench()
        target.setAway(AttachPrepError(.publishUnavailable, "The bucket is away."))
        let id = try await bench.enqueue(.sample())[0]
        let began = ContinuousClock.now
        try await bench.working(drain: .seconds(60)) { worker in
            try await pollUntil("the result waits") { worker.heldResultsCount == 1 }
        }
        #expect(began.duration(to: .now) < .seconds(30))
        let job = try await bench.job(id)
        #expect(job.state == .queued && job.attempts == 0 && target.discardedCount == 1)
    }

    @Test func `A published result is stored when the database is back, without a second download`() async throws {
        let bench = try await bench()
        let unreliable = UnreliableStore(bench.store)
        let id = try await bench.enqueue(.sample())[0]
        target.onPublish { unreliable.fail(true) }
        try await bench.working(on: unreliable) { worker in
            try await pollUntil("the database is missed") { worker.outages.contains { $0.dependency == .database } }
            unreliable.fail(false)
            #expect(try await bench.ended(id).state == .succeeded)
        }
        #expect(bench.tasks.count == 1)
    }

    // MARK: Name servers

    private func resolverBench(isAway: @escaping @Sendable () -> Bool) async throws -> WorkerBench {
        try await WorkerBench({ $0.retries.attemptsMax = 2 }) { output in
            ScriptedPreparer(
                output: output,
                probe: { dependency in
                    guard dependency == .resolver, isAway() else { return }
                    throw AttachPrepError(.downloadDNS, "No host name can be resolved.")
                },
                { task, number in
                    number <= 3 ? task.rejected(.downloadDNS) : task.prepared(in: output)
                })
        }
    }

    @Test func `Name servers that are away make jobs wait`() async throws {
        let isAway = Mutex(true)
        let bench = try await resolverBench { isAway.withLock { $0 } }
        let ids = try await bench.enqueue(.sample(key: "a"), .sample(key: "b"), .sample(key: "c"))
        try await bench.working { worker in
            try await pollUntil("the outage is known") {
                worker.outages == [DependencyOutage(.resolver, reason: "No host name can be resolved.")]
            }
            isAway.withLock { $0 = false }
            for id in ids { #expect(try await bench.ended(id).attempts == 1) }
        }
    }

    @Test func `A name that is not resolved while others are uses up attempts`() async throws {
        let bench = try await resolverBench { false }
        let id = try await bench.enqueue(.sample())[0]
        let job = try await bench.working { _ in try await bench.ended(id) }
        #expect(job.state == .dead && job.error?.code == .downloadDNS)
    }
}

/// A publish target that a test takes away.
private final class UnreliableTarget: Sendable {
    private struct State {
        var error: AttachPrepError?
        var rejected: [String: AttachPrepError] = [:]
        var discarded = 0
        var onPublish: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var discardedCount: Int { state.withLock(\.discarded) }

    func setAway(_ error: AttachPrepError?) { state.withLock { $0.error = error } }
    func reject(_ id: String, _ error: AttachPrepError) { state.withLock { $0.rejected[id] = error } }
    func onPublish(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onPublish = body } }

    func check() throws {
        if let error = state.withLock(\.error) { throw error }
    }

    private func publish(_ manifest: Manifest) throws {
        try check()
        if let error = state.withLock({ $0.rejected[manifest.id] }) { throw error }
        state.withLock(\.onPublish)?()
    }

    /// What a preparer returns that publishes here.
    func publish(_ result: PreparationResult) -> PreparationResult {
        guard case .ended(let manifest, let freshness) = result else { return result }
        do {
            try publish(manifest)
            return result
        } catch let error as AttachPrepError {
            let held = UnpublishedResult(manifest, freshness) { [self] manifest, _ in
                try publish(manifest)
                return manifest
            } discard: { [self] in
                state.withLock { $0.discarded += 1 }
            }
            return .unpublished(held, error)
        } catch {
            preconditionFailure("only AttachPrepError is thrown")
        }
    }
}
