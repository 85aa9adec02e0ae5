import NATS
import RichPush
import SafeArithmetic

extension JetStreamQueue: StoreKeeping {
    /// Never: files are elsewhere.
    public var isFull: Bool { false }

    public var fault: String? {
        if let refusal = connection.refusal { return QueueFault.sentence(refusal) }
        if !connection.isConnected {
            return "The connection to the NATS servers is lost; it comes back by itself with them."
        }
        guard conflicts.isStalled(at: clock.now().steady) else { return nil }
        return """
            The NATS servers have refused all claims for \(ClaimStall.stallSeconds) s, and no job moves; \
            their copies of the queue may differ: see the log, and nats stream info \(jobs.streamName).
            """
    }

    public var refusedClaims: Int { conflicts.total }

    /// Housekeeping: removes jobs and keys that are too old, gives a message to jobs that have lost theirs, and forgets
    /// what a crash left behind. Every machine does it, once a minute; two at the same time do nothing twice.
    ///
    /// - Throws: `queue.unavailable`; what was done until then stays done.
    public func sweep() async throws -> SweepReport {
        try await named { () async throws -> SweepReport in
            var report = SweepReport()
            try await sweepLaneLeaders()
            report.jobs = try await sweepFinished()
            report.idempotencyKeys = try await sweepWords()
            try await sweepLanes()
            try await sweepDrafts()
            try await sweepBatches()
            try await sweepMarkers()
            try await mirror.emptyLog()
            report.add(SweepReport(try await uploadFolder.sweep(at: clock.wall())))
            return report
        }
    }

    /// Looked at in one step.
    static let sweptCount = 500

    private func sweepFinished() async throws -> Int {
        let now = clock.now().wall
        var count = 0
        for state in JobState.allCases where state.isFinished {
            let seconds = state == .dead ? limits.deadRetentionSeconds : limits.retentionSeconds
            while true {
                let found = try await mirror.finished(
                    // Bounded: floating-point numbers.
                    state, until: now.subtracting(clamping: Int64(clamping: seconds * 1000)), count: Self.sweptCount)
                let purged = try await purge(found)
                count += purged  // Bounded: counts of what is in memory.
                if purged < Self.sweptCount { break }
            }
        }
        return count
    }

    /// Jobs that should be in a lane: the oldest that are due, and those that somebody has had for long. The servers
    /// take a message only for a job that has none, so a job that is where it should be is left alone.
    private func sweepLanes() async throws {
        let moment = clock.now()
        let doubtful = try await mirror.doubtful(
            // Bounded: a clock of this machine, less or more than a limit.
            dueUntil: moment.wall - Self.doubtMilliseconds, heardUntil: moment.steady - Self.doubtMilliseconds,
            count: Self.doubtfulCount)
        try await publish(doubtful.map(\.value))
    }

    /// A job that is this late, or was not heard of for so long, may have lost its message.
    // Bounded: a product of our own limits and settings.
    private static let doubtMilliseconds = Int64(Limits.leaseSeconds * 2 * 1000)
    /// Of each lane: a lost one is the oldest some day.
    private static let doubtfulCount = 64

    /// Jobs of batches that never became whole.
    private func sweepDrafts() async throws {
        let drafts = try await mirror.drafts(
            // Bounded: a clock of this machine, less or more than a limit.
            heardUntil: clock.now().steady - Self.leftoverMilliseconds, count: Self.sweptCount)
        for draft in drafts where try await jobs.entry(QueueKeys.batch(draft.value.batch ?? ""))?.value == nil {
            let change = KeyValueBucket.Change(QueueKeys.job(draft.value.id), nil, after: draft.revision)
            _ = try await jobs.make(change)
        }
    }

    /// Nobody works on a batch for that long.
    private static let leftoverMilliseconds: Int64 = 600_000

    private func sweepWords() async throws -> Int {
        // Bounded: a clock of this machine, less or more than a limit.
        let oldest = clock.now().wall - Int64(Limits.idempotencySecondsMax * 1000)
        let words = try await mirror.words(until: oldest, count: Self.sweptCount)
        let answers = await jobs.makeAll(words.map { KeyValueBucket.Change($0.key, nil, after: $0.revision) })
        return try answers.filter { try $0.get() != nil }.count
    }

    /// Batches of whose jobs none waits any longer.
    private func sweepBatches() async throws {
        let batches = try await mirror.emptyBatches(
            // Bounded: a clock of this machine, less or more than a limit.
            heardUntil: clock.now().steady - Self.leftoverMilliseconds, count: Self.sweptCount)
        for answer in await jobs.makeAll(batches.map { KeyValueBucket.Change(QueueKeys.batch($0), nil) }) {
            _ = try answer.get()
        }
    }

    /// What is left of keys that were removed, once everybody has heard of it.
    private func sweepMarkers() async throws {
        let marks = try await mirror.removed(
            // Bounded: a clock of this machine, less or more than a limit.
            heardUntil: clock.now().steady - Int64(JobFollower.absenceSecondsMax * 2 * 1000), count: Self.sweptCount)
        for mark in marks {
            try await jobs.erase(mark.revision)
            try await mirror.erase(mark)
        }
    }
}
