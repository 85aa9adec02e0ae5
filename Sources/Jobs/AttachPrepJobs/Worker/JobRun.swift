import AttachPrep
import AttachPrepModel
import FoundationEssentials
import Logging
import MediaTypes
import SafeArithmetic
import Tracing

/// Runs a claimed job: one attempt, then its completion or retry.
struct JobRun: Sendable {
    private let job: ClaimedJob
    private let dependencies: WorkerDependencies
    private let logger: Logger
    private let claimedAt: Date
    /// The span of the attempt; nil without traces.
    private var span: (any Span)?

    init(_ job: ClaimedJob, _ dependencies: WorkerDependencies) {
        self.job = job
        self.dependencies = dependencies
        logger = JobLogHandler.logger(job.id, service: dependencies.logger, buffer: dependencies.logs)
        claimedAt = .now
    }

    /// Runs the job within a span, if there is a tracer: a child of the request that submitted it.
    func run() async {
        guard let tracer = dependencies.tracer else { return await runAttempt() }
        let origin = job.job.origin.trace?.context(tracer)
        let (context, claimed) = (origin ?? .topLevel, claimedAt.tracerTime)
        await tracer.withSpan("job", context: context, ofKind: .consumer, at: claimed) { span in
            if job.dueAt < claimedAt {
                // A job that was submitted without traces begins one, to which its wait belongs.
                tracer.startSpan("queue", context: origin ?? span.context, at: job.dueAt.tracerTime).end(at: claimed)
            }
            var run = self
            run.span = span
            span.updateAttributes { attributes in
                attributes["attachprep.job.id"] = job.id.text
                attributes["attachprep.job.attempt"] = job.job.attempts
                attributes["attachprep.job.priority"] = job.request.jobOptions.priority.rawValue
            }
            await run.runAttempt()
        }
    }

    private func runAttempt() async {
        let waited = max(0, claimedAt.timeIntervalSince(job.dueAt))
        dependencies.metrics.claimed(waited)
        var metadata: Logger.Metadata = [
            "attempt": .stringConvertible(job.job.attempts),
            "waitedMilliseconds": .stringConvertible(Int(clamping: waited * 1000)),
        ]
        if job.losses > 0 { metadata["losses"] = .stringConvertible(job.losses) }
        logger.info("claimed", metadata: metadata)
        await conclude(JobAttempt(job, dependencies: dependencies, logger: logger, claimedAt: claimedAt).run())
    }

    private func conclude(_ end: AttemptResult) async {
        switch dependencies.activeLeases.status(of: job.lease) {
        case .cancelled: await finish(.cancelled)
        case .lost: logger.warning("the lease was lost; another worker has the job")
        case .returned: logger.info("returned to the queue")
        case .held: await handle(end)
        }
    }

    private func handle(_ end: AttemptResult) async {
        switch end {
        case .prepared(let manifest, let media):
            dependencies.breakers.recordSuccess(.disk, .database)
            await finish(.succeeded(manifest, media))
        case .notStarted(let ending): await finish(ending)
        case .interrupted:
            logger.info("returned to the queue")
            _ = await persist { [dependencies, job] in
                try await dependencies.store.release([job.lease])
                return true
            }
        case .waiting(let dependency, let error): await wait(for: dependency, error)
        case .rejected(let manifest, let failedAt):
            guard let error = manifest.error else { preconditionFailure("a rejected manifest has an error") }
            switch decision(error, failedAt: failedAt) {
            case .fail: await finish(.failed(manifest))
            case .markDead: await finish(.dead(manifest))
            case .retry(let date): await postpone(until: date, error)
            }
        }
    }

    /// A dependency is the cause, not the job: postpones it without counting the attempt.
    private func wait(for dependency: Dependency, _ error: ManifestError) async {
        let pause = dependencies.breakers.recordFailure(dependency, error.message)
        await postpone(until: Date.now.addingTimeInterval(pause / .seconds(1)), error, isAttempt: false)
    }

    private func decision(_ error: ManifestError, failedAt: Date) -> RetryDecision {
        RetryDecision(
            after: error, failures: job.failures.adding(clamping: 1), notAfter: job.request.jobOptions.notAfter,
            policy: dependencies.settings.retries.applying(job.request.jobOptions.retry), failedAt: failedAt, now: .now,
            chance: RetryDecision.chance(job.key, failedAt: failedAt))
    }

    // MARK: Store updates

    private func finish(_ ending: JobCompletion) async {
        let (state, error) = ending.summary
        let milliseconds = Int(clamping: Date.now.timeIntervalSince(claimedAt) * 1000)
        logger.info(
            "ended", metadata: ["state": "\(state.rawValue)", "milliseconds": .stringConvertible(milliseconds)])
        record(state, error: error)
        // With the end, so that whoever sees the final state also sees the log lines. Those of other jobs would be lost
        // with the lease of this one, or stored after their own end.
        let lines = dependencies.logs.take(of: job.id)
        let notice = WebhookNotice(
            for: job, ending, at: dependencies.settings.baseURL, trace: .current(dependencies.tracer))
        let isLeaseHeld = await persist { [dependencies, job] in
            try await dependencies.store.finish(job.lease, ending, notice: notice, lines: lines)
        }
        if isLeaseHeld {
            dependencies.metrics.ended(state, error)
        } else {
            logger.warning("the lease was lost; the result was not recorded")
        }
    }

    private func postpone(until date: Date, _ error: ManifestError, isAttempt: Bool = true) async {
        logger.info(
            "retried later", metadata: ["at": "\(Timestamp.text(date))", "code": "\(error.code.rawValue)"])
        record(.queued, error: error.code)
        await flush()
        let isLeaseHeld = await persist { [dependencies, job] in
            try await dependencies.store.postpone(job.lease, until: date, error: error, isAttempt: isAttempt)
        }
        if isLeaseHeld { dependencies.metrics.postponed(error.code) } else { logger.warning("the lease was lost") }
    }

    /// Records the state after the attempt in its span.
    private func record(_ state: JobState, error: ErrorCode?) {
        guard let span else { return }
        span.attributes["attachprep.job.state"] = state.rawValue
        guard let error else { return }
        span.attributes["error.type"] = error.rawValue
        if error != .cancelled { span.setStatus(SpanStatus(code: .error)) }
    }

    private func flush() async {
        try? await uninterrupted { [dependencies] in await dependencies.logs.flush() }
    }

    /// Repeats a write that must not be lost, until the store accepts it or the lease is lost.
    private func persist(_ write: @escaping @Sendable () async throws -> Bool) async -> Bool {
        var pause = Self.pauseMin
        while true {
            do {
                let isLeaseHeld = try await uninterrupted(write)
                dependencies.storeAvailability.answered()
                return isLeaseHeld
            } catch {
                dependencies.storeAvailability.failed(error)
                let status = dependencies.activeLeases.status(of: job.lease)
                guard status == .held || status == .cancelled else { return false }
                try? await uninterrupted { [pause] in try await ContinuousClock().sleep(for: pause) }
                pause = min(pause * 2, Self.pauseMax)
            }
        }
    }

    /// A busy store recovers within milliseconds, a full disk rarely does.
    private static let (pauseMin, pauseMax) = (Duration.milliseconds(100), Duration.seconds(5))
}

extension Date {
    /// The time for a span.
    fileprivate var tracerTime: DefaultTracerClock.Timestamp {
        let nanoseconds = Int64(clamping: timeIntervalSince1970 * 1_000_000_000)
        return DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: UInt64(max(0, nanoseconds)))
    }
}

extension JobCompletion {
    fileprivate var summary: (JobState, ErrorCode?) {
        switch self {
        case .succeeded: (state, nil)
        case .failed(let manifest), .dead(let manifest): (state, manifest.error?.code)
        case .cancelled: (state, .cancelled)
        }
    }
}
