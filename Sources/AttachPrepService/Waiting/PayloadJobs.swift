import AttachPrep
import AttachPrepJobs
import RichPush
import SafeArithmetic

/// A payload's media as jobs, for a caller that waits: kept, shared and worked on like all others.
struct PayloadJobs: Sendable {
    let store: any JobStore
    let intake: JobIntake
    let waiters: JobWaiters
    let baseURL: String?
    let secondsMax: Double

    /// Until when a caller waits: as long as work may take, and the worker's way round; never longer than proxies do.
    func deadline(of template: AttachmentRequest, preferring seconds: Double?) -> ContinuousClock.Instant {
        // Bounded: floating point, which does not trap.
        let needed = seconds ?? template.budgetSeconds + Limits.payloadWaitGraceSeconds
        return .now.advanced(by: .seconds(clamping: min(needed, secondsMax)))
    }

    /// What became of a request: a rejected manifest when it cannot be a job, has failed once, or is not ready in time.
    ///
    /// - Throws: what is wrong with the service, or with the request whatever its source.
    func manifest(of request: AttachmentRequest, before deadline: ContinuousClock.Instant) async throws -> Manifest {
        let submission: JobSubmission
        do {
            submission = try await intake.submission(for: request)
        } catch let error as AttachPrepError where error.code.isOfSource {
            return Manifest(refusing: request, error)
        }
        guard let kept = try await store.enqueue([submission], idempotency: nil).jobs.first else {
            throw AttachPrepError(.internal, "The service failed.", detail: "no job came of a submission")
        }
        let job = try await waiters.end(of: kept.id, before: deadline, until: \.hasBeenTried) {
            guard let job = try await store.job(kept.id) else { throw JobRoutes.unknown }
            return job
        }
        return job.located(at: baseURL).manifest(of: request)
    }
}

extension Job {
    /// Whether it has ended, or its first try has: the next one comes later than a notification is sent.
    fileprivate var hasBeenTried: Bool { state.isFinished || state == .queued && attempts > 0 && error != nil }

    /// What there is at this moment: the result, the last error, or that the time is over.
    fileprivate func manifest(of request: AttachmentRequest) -> Manifest {
        if state.isFinished, let result { return result }
        let failure =
            error.map { AttachPrepError($0.code, $0.message, isRetryable: $0.retryable) }
            ?? AttachPrepError(
                .deadlineExceeded,
                "The media was not ready in time; it is still worked on, so send the payload again for it.")
        return Manifest(refusing: request, failure)
    }
}

extension ErrorCode {
    /// Whether one source is to blame, and the others may be well.
    fileprivate var isOfSource: Bool { rawValue.hasPrefix("source.") }
}
