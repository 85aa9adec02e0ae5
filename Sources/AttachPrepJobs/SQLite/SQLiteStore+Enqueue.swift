import AttachPrep
import GRDB
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    public func enqueue(
        _ submissions: [JobSubmission], idempotency: IdempotencyKey?
    ) async throws -> EnqueuedJobs {
        let date = clock.wall()
        let new = try await Self.encoded(submissions, at: date)
        let (limit, quota) = (limits.queuedJobsMax, quotaInForce)
        let earlier = try await write { database, changes -> [JobRecord]? in
            if let idempotency, let earlier = try idempotency.jobs(database, at: date.milliseconds) { return earlier }
            try Self.checkRoom(for: new.count, limit: limit, database)
            if let quota { try Self.checkQuota(quota, database) }
            for one in new { try one.insert(database) }
            try idempotency?.keep(new.map(\.job.id), database, at: date.milliseconds)
            changes += new.map { JobFeed.Change(job: $0.job.id, state: .queued) }  // Bounded: lists, not numbers.
            return nil
        }
        guard let earlier else { return EnqueuedJobs(jobs: new.map(\.job), areRepeated: false) }
        return EnqueuedJobs(jobs: try earlier.map { try $0.job() }, areRepeated: true)
    }

    /// So many are encoded before others get their turn: a large batch takes half a second of processor time.
    private static let encodedCount = 100

    private static func encoded(_ submissions: [JobSubmission], at date: Date) async throws -> [NewJob] {
        var jobs: [NewJob] = []
        jobs.reserveCapacity(submissions.count)
        for submission in submissions {
            jobs.append(try NewJob(submission, at: date))
            if jobs.count % encodedCount == 0 { await Task.yield() }  // Bounded: counts of what is in memory.
        }
        return jobs
    }

    /// The quota when housekeeping could not hold it: what is left then is needed or too young, and nothing is added.
    var quotaInForce: Int? { isFull ? limits.mediaQuotaBytes : nil }

    /// - Throws: `output.no_space` when the files take more room than they may.
    static func checkQuota(_ quota: Int, _ database: Database) throws {
        let bytes = try database.number("SELECT number FROM tally WHERE name = 'mediaBytes'") ?? 0
        guard Int(clamping: bytes) > quota else { return }
        throw AttachPrepError(
            .outputNoSpace,
            "Files take \(bytes) bytes, over the quota of \(quota), and all of them are needed or too young to go; "
                + "try again later, or have the service's operator raise the quota.")
    }

    /// - Throws: `queue.full`.
    static func checkRoom(for count: Int, limit: Int, _ database: Database) throws {
        let queued = try database.number("SELECT number FROM tally WHERE name = 'queued'") ?? 0
        guard Int(clamping: queued).adding(clamping: count) <= limit else {
            throw AttachPrepError(
                .queueFull, "\(queued) jobs wait already, and the queue takes \(limit); try again later.")
        }
    }
}
