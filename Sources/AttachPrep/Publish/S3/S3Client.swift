import Logging
import RichPush

/// Sends requests to one bucket: signed, again where that helps, and within their deadline.
///
/// It talks to the configured endpoint alone, so that may be on any network; a redirect is an answer and never
/// followed. Proxies are not asked.
final class S3Client: Sendable {
    let bucket: S3Bucket
    private let book: CredentialBook
    private let calls: CallSender
    private let schedule: RetrySchedule
    private let logger: Logger

    /// - Throws: `request.invalid` for settings that cannot be, `publish.denied` without credentials.
    init(
        _ settings: S3Settings, policy: DownloadPolicy, logger: Logger,
        backOff: Duration = .seconds(Limits.publishBackOffSeconds)
    ) throws {
        book = CredentialBook(environment: settings.environment)
        let profile = book.profile
        bucket = try S3Bucket(settings, profile)
        _ = try book.credentials()
        let bundle = settings.environment.value("AWS_CA_BUNDLE") ?? profile["ca_bundle"]
        calls = try CallSender(
            policy: DownloadPolicy(
                allowsPrivateNetwork: true,
                certificateAuthorityFile: bundle ?? policy.certificateAuthorityFile,
                resolveOverrides: policy.resolveOverrides),
            timeouts: Self.timeouts, trustsServers: true,
            onAbandonedLoop: {
                logger.error("publish thread abandoned: libcurl did not return", metadata: ["abandoned": "\($0)"])
            })
        var schedule = RetrySchedule(backOff: backOff)
        schedule.attemptsMax = Limits.publishAttemptsMax
        self.schedule = schedule
        self.logger = logger
    }

    /// An endpoint of the operator's own may be slow: any byte counts.
    private static var timeouts: DownloadTimeouts {
        var timeouts = DownloadTimeouts()
        timeouts.stallBytesMin = 1
        return timeouts
    }

    /// - Returns: an answer of 2xx, or of a status that the request accepts.
    /// - Throws: `publish.…`, `deadline.exceeded`, `cancelled`.
    func send(_ request: S3Request, before deadline: ContinuousClock.Instant) async throws -> WebAnswer {
        try await send(request, before: deadline) { $0 }
    }

    /// The same for an answer that has to say something.
    ///
    /// - Parameter read: makes something of an answer of 2xx, or throws an `S3Fault` for one that only looks so.
    func send<Value: Sendable>(
        _ request: S3Request, before deadline: ContinuousClock.Instant,
        reading read: (WebAnswer) throws(S3Fault) -> Value
    ) async throws -> Value {
        var (tries, hasRenewed) = (1, false)
        while true {
            let credentials = try book.credentials()
            do throws(S3Fault) {
                let answer = try await answer(to: request, credentials, before: deadline)
                return try read(answer)
            } catch {
                logger.debug("S3", metadata: ["try": "\(tries)", "error": "\(error.error)"])
                if error.remedy == .renewal, !hasRenewed, try book.credentials() != credentials {
                    hasRenewed = true
                    continue
                }
                let delay = schedule.delay(
                    afterTries: tries, chance: .random(in: 0..<1), retryAfter: error.hasAsked,
                    timeLeft: ContinuousClock.now.duration(to: deadline))
                guard error.remedy == .retry, let delay else { throw error.error }
                tries += 1
                try await pause(delay)
            }
        }
    }

    /// Ends every request, and returns when the thread is done.
    func shutdown() async {
        await calls.shutdown()
    }

    private func answer(
        to request: S3Request, _ credentials: AWSCredentials, before deadline: ContinuousClock.Instant
    ) async throws(S3Fault) -> WebAnswer {
        let answer: WebAnswer
        do {
            answer = try await calls.send(request.call(bucket, credentials, before: deadline))
        } catch let error as AttachPrepError {
            throw S3Fault(error)
        } catch {
            throw S3Fault(AttachPrepError(wrapping: error))
        }
        if 200..<300 ~= answer.status || request.accepted.contains(answer.status) { return answer }
        throw S3Fault(S3Refusal(answer), bucket)
    }

    private func pause(_ delay: Duration) async throws {
        do {
            try await ContinuousClock().sleep(for: delay)
        } catch {
            throw AttachPrepError.cancelled
        }
    }
}
