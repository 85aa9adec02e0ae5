import AttachPrep
import Logging
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A claimed job from claim to end: one attempt, and what follows from it.
struct JobRun: Sendable {
    private let job: ClaimedJob
    private let rooms: WorkerRooms
    private let logger: Logger
    private let claimedAt: Date

    init(_ job: ClaimedJob, _ rooms: WorkerRooms) {
        self.job = job
        self.rooms = rooms
        logger = JobLogHandler.logger(job.id, service: rooms.logger, buffer: rooms.logs)
        claimedAt = .now
    }

    func run() async {
        let waited = max(0, claimedAt.timeIntervalSince(job.dueAt))
        rooms.metrics.claimed(waited)
        var facts: Logger.Metadata = [
            "attempt": "\(job.job.attempts)", "waited": "\(Int(clamping: waited * 1000)) ms",
        ]
        if job.crashes > 0 { facts["crashes"] = "\(job.crashes)" }
        logger.info("claimed", metadata: facts)
        let end = await JobAttempt(job, rooms: rooms, logger: logger, claimedAt: claimedAt).run()
        await conclude(end)
    }

    private func conclude(_ end: AttemptEnd) async {
        switch rooms.hands.standing(of: job.lease) {
        case .cancelled: await finish(.cancelled)
        case .lost: logger.warning("the lease was lost; another worker has the job")
        case .returned: logger.info("goes back into the queue")
        case .held: await follow(end)
        }
    }

    private func follow(_ end: AttemptEnd) async {
        switch end {
        case .prepared(let manifest, let media):
            if rooms.storage.succeed() { rooms.logger.notice("results can be kept again; jobs are claimed as before") }
            await finish(.succeeded(manifest, media))
        case .refused(let ending): await finish(ending)
        case .interrupted:
            logger.info("goes back into the queue")
            _ = await kept { [rooms, job] in
                try await rooms.store.release([job.lease])
                return true
            }
        case .rejected(let manifest, let failedAt):
            guard let error = manifest.error else { preconditionFailure("a rejected manifest says why") }
            if StorageBreaker.isStorage(error.code) { return await waitForStorage(error) }
            switch decision(error, failedAt) {
            case .fail: await finish(.failed(manifest))
            case .die: await finish(.dead(manifest))
            case .retry(let date): await postpone(until: date, error)
            }
        }
    }

    /// The machine is at fault, not the job: it waits without an attempt.
    private func waitForStorage(_ error: ManifestError) async {
        let (isNews, pause) = rooms.storage.fail(error)
        if isNews {
            rooms.logger.error(
                "results cannot be kept; no jobs are claimed until one can",
                metadata: ["code": "\(error.code.rawValue)", "reason": "\(error.message)"])
        }
        await postpone(until: Date.now.addingTimeInterval(pause / .seconds(1)), error, isAttempt: false)
    }

    private func decision(_ error: ManifestError, _ failedAt: Date) -> RetryDecision {
        RetryDecision(
            after: error, failures: job.failures.adding(clamping: 1), notAfter: job.request.terms.notAfter,
            policy: rooms.settings.retries, failedAt: failedAt, now: .now,
            chance: RetryDecision.chance(job.key, failedAt: failedAt))
    }

    // MARK: Into the store

    private func finish(_ ending: JobEnding) async {
        let (state, error) = ending.summary
        let ms = Int(clamping: Date.now.timeIntervalSince(claimedAt) * 1000)
        logger.info("ended", metadata: ["state": "\(state.rawValue)", "ms": "\(ms)"])
        // Who sees the end sees the lines before it.
        await flush()
        let notice = WebhookNotice(for: job, ending, at: rooms.settings.baseURL)
        let isMine = await kept { [rooms, job] in try await rooms.store.finish(job.lease, ending, notice: notice) }
        if isMine { rooms.metrics.ended(state, error) } else { logger.warning("the end came too late; it was lost") }
    }

    private func postpone(until date: Date, _ error: ManifestError, isAttempt: Bool = true) async {
        logger.info(
            "retried later", metadata: ["at": "\(Timestamp.text(date))", "code": "\(error.code.rawValue)"])
        await flush()
        let isMine = await kept { [rooms, job] in
            try await rooms.store.postpone(job.lease, until: date, error: error, isAttempt: isAttempt)
        }
        if isMine { rooms.metrics.postponed(error.code) } else { logger.warning("the lease was lost") }
    }

    private func flush() async {
        try? await uninterrupted { [rooms] in await rooms.logs.flush() }
    }

    /// Writes what must not be lost, again and again while the store does not answer and the job is this worker's.
    private func kept(_ write: @escaping @Sendable () async throws -> Bool) async -> Bool {
        var pause = Self.pauseMin
        while true {
            do {
                let isMine = try await uninterrupted(write)
                rooms.pulse.answered()
                return isMine
            } catch {
                rooms.pulse.failed(error)
                let standing = rooms.hands.standing(of: job.lease)
                guard standing == .held || standing == .cancelled else { return false }
                try? await uninterrupted { [pause] in try await ContinuousClock().sleep(for: pause) }
                pause = min(pause * 2, Self.pauseMax)  // Bounded: spans of our own settings and limits.
            }
        }
    }

    /// A store that is busy for a moment answers soon, one whose disk is full hardly does.
    private static let (pauseMin, pauseMax) = (Duration.milliseconds(100), Duration.seconds(5))
}

extension JobEnding {
    /// The state that it leads to, and why.
    fileprivate var summary: (JobState, ErrorCode?) {
        switch self {
        case .succeeded: (state, nil)
        case .failed(let manifest), .dead(let manifest): (state, manifest.error?.code)
        case .cancelled: (state, .cancelled)
        }
    }
}
