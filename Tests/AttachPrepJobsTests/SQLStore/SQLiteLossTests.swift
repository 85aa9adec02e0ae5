import AttachPrep
import AttachPrepModel
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import SQLStore
@testable import SQLiteDatabase

/// What losses of workers do to the jobs of a real store, with a clock that the test moves.
@Suite(.timeLimit(.minutes(15))) struct SQLiteLossTests {
    // MARK: An unreachable store

    @Test func `A lease that expired while the database could not be written counts no loss`() async throws {
        let sqlite = try await SQLiteUnderTest()
        _ = try await sqlite.driver.enqueue(.sample())
        let lease = try await sqlite.driver.claimOne().lease
        sqlite.clock.advance(10)
        try await sqlite.store.alter("PRAGMA query_only = ON")
        let error = await #expect(throws: AttachPrepError.self) {
            try await sqlite.store.extend([lease], by: .seconds(15))
        }
        #expect(error?.code == .queueUnavailable)
        try await sqlite.store.alter("PRAGMA query_only = OFF")
        sqlite.clock.advance(6)
        let again = try await sqlite.driver.claimOne()
        #expect(again.losses == 0 && again.failures == 0 && again.job.attempts == 1)
        // The next one expires although the database can be written.
        sqlite.clock.advance(16)
        #expect(try await sqlite.driver.claim().isEmpty)
        sqlite.clock.advance(2)
        #expect(try await sqlite.driver.claimOne().losses == 1)
        await sqlite.store.close()
    }

    // MARK: Simulations

    @Test func `One job that crashes the service beside 500 others, 32 in flight, is the only one that dies`()
        async throws
    {
        var service = try await SimulatedService(seed: 1)
        let culprit = try await service.enqueue(500, withCulpritAt: 20)
        try await service.run { $0.open == 0 }
        #expect(service.dead == [culprit])
        #expect(service.crashes == Limits.jobLossesMax)
        #expect(service.succeeded.count == 500)
        await service.close()
    }

    @Test func `No job dies by 20 kills of the service`() async throws { try await kill(20) }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] != nil, "long"))
    func `No job dies by 1,000 kills of the service`() async throws { try await kill(1_000) }

    /// Kills the service every 1 to 20 s while 8 jobs are always in flight.
    private func kill(_ kills: Int) async throws {
        var service = try await SimulatedService(seed: 2)
        service.inFlightMin = 8
        for _ in 0..<kills {
            let end = service.now + Int64.random(in: 1_000...20_000, using: &service.random)
            try await service.run { $0.now >= end }
            try await service.restart()
        }
        service.inFlightMin = 0
        try await service.run { $0.open == 0 }
        #expect(service.dead.isEmpty && service.succeeded.count > kills * 8)
        #expect(service.losses > kills * 4)
        await service.close()
    }
}

/// A service as its store sees it: claims, leases, ends and recoveries are those of the real store; what a job takes,
/// and what ends the process, is made up.
private struct SimulatedService {
    private var sqlite: SQLiteUnderTest
    private var inFlight: [(end: Int64, job: ClaimedJob)] = []
    private var culprit: JobID?
    var random: SeededGenerator
    /// The number of jobs in flight below which new ones are added.
    var inFlightMin = 0
    private(set) var open = 0
    private(set) var succeeded: Set<JobID> = []
    private(set) var dead: Set<JobID> = []
    private(set) var crashes = 0
    /// Jobs that were in flight when the process ended.
    private(set) var losses = 0

    private static let concurrency = 32

    init(seed: UInt64) async throws {
        sqlite = try await SQLiteUnderTest()
        random = SeededGenerator(seed)
    }

    /// Milliseconds since 1970.
    var now: Int64 { sqlite.clock.now.milliseconds }

    func close() async { await sqlite.store.close() }

    /// Adds jobs, among them one that ends the process whenever it runs.
    mutating func enqueue(_ count: Int, withCulpritAt index: Int) async throws -> JobID {
        let ids = try await add(count + 1)
        culprit = ids[index]
        return ids[index]
    }

    private mutating func add(_ count: Int) async throws -> [JobID] {
        guard count > 0 else { return [] }
        let submissions = (0..<count).map { _ in JobSubmission.sample(host: nil) }
        open += count
        return try await sqlite.store.enqueue(submissions, idempotency: nil).jobs.map(\.id)
    }

    /// Runs until the condition is met, from one event to the next.
    mutating func run(until isMet: (Self) -> Bool) async throws {
        while !isMet(self) {
            _ = try await add(inFlightMin - inFlight.count)
            try await claim()
            if isMet(self) { return }
            let due = try await sqlite.store.nextDue()?.milliseconds
            let next = min(inFlight.map(\.end).min() ?? .max, inFlight.count < Self.concurrency ? due ?? .max : .max)
            try #require(next < .max || !inFlight.isEmpty, "nothing will happen any more")
            sqlite.clock.advance(Double(max(1, next - now)) / 1000)
            try await finish()
        }
    }

    /// Ends the process without its knowledge and starts the next one, a second later.
    mutating func restart() async throws {
        losses += inFlight.count
        inFlight = []
        sqlite.clock.advance(1)
        sqlite = try await sqlite.restarted()
    }

    private mutating func claim() async throws {
        let jobs = try await sqlite.store.claim(
            Self.concurrency - inFlight.count, by: "worker", lease: .seconds(600), hostLimit: Self.concurrency)
        for job in jobs {
            switch StartDecision(losses: job.losses, notAfter: nil, now: sqlite.clock.now) {
            case .markDead(let error):
                #expect(error.code == .jobWorkerLost)
                try await end(job, .dead(.rejected(error.code)))
                dead.insert(job.job.id)
            default:
                let duration: ClosedRange<Int64> = job.job.id == culprit ? 300...300 : 100...1_500
                inFlight.append((now + Int64.random(in: duration, using: &random), job))
            }
        }
    }

    private mutating func finish() async throws {
        for (_, job) in inFlight.filter({ $0.end <= now }).sorted(by: { $0.end < $1.end }) {
            if job.job.id == culprit {
                crashes += 1
                return try await restart()
            }
            try await end(job, .succeeded(.sample(), .make()))
            succeeded.insert(job.job.id)
            inFlight.removeAll { $0.job.job.id == job.job.id }
        }
    }

    private mutating func end(_ job: ClaimedJob, _ completion: JobCompletion) async throws {
        #expect(try await sqlite.store.finish(job.lease, completion, notice: nil))
        open -= 1
    }
}
