import AttachPrepModel
import FoundationEssentials
import Logging
import MediaTypes
import Synchronization

/// Provides the current credentials, and obtains new ones before temporary ones expire.
///
/// - A refresh begins ahead of the end, in the background: callers continue with the credentials that are still valid,
///   also while refreshes fail. Only without valid credentials do callers wait.
/// - There is one refresh at a time, which all callers share. After a failure, the next one waits.
/// - Which source is used is decided for each call from the environment and the current contents of the files.
final class AWSCredentialProvider: Sendable {
    typealias Fetch = @Sendable (AWSCredentialSource) async throws -> IssuedCredentials

    private struct State {
        var cache: CredentialCache?
        /// The refresh that is running, and its source.
        var refresh: (source: AWSCredentialSource, task: Task<Void, Never>)?
        /// Ended when the refresh has ended.
        var waiters: [AsyncStream<Void>.Continuation] = []
        var failure: (source: AWSCredentialSource, error: AttachPrepError, at: Date)?
        var isShutDown = false
    }

    private enum Step {
        case use(AWSCredentials)
        case wait(AsyncStream<Void>)
    }

    private let profiles: AWSProfileReader
    private let fetch: Fetch
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let state = Mutex(State())

    convenience init(_ profiles: AWSProfileReader, _ client: CredentialClient, logger: Logger) {
        self.init(profiles, logger: logger) { source in
            switch source {
            case .keys(let keys): IssuedCredentials(credentials: keys, expiration: nil)
            case .webIdentity(let role): try await role.credentials(client)
            case .process(let process): try await process.credentials(client)
            case .container(let role): try await role.credentials(client)
            case .instance(let role): try await role.credentials(client)
            }
        }
    }

    /// - Parameters:
    ///   - now: The clock, for tests.
    ///   - fetch: Obtains credentials from a source; must end in bounded time.
    init(
        _ profiles: AWSProfileReader, logger: Logger, now: @escaping @Sendable () -> Date = { .now },
        fetch: @escaping Fetch
    ) {
        self.profiles = profiles
        self.logger = logger
        self.now = now
        self.fetch = fetch
    }

    /// - Throws: `publish.denied` when there are none, `publish.unavailable` when their source does not answer,
    ///   `deadline.exceeded`, `cancelled`.
    func credentials(before deadline: ContinuousClock.Instant) async throws -> AWSCredentials {
        while true {
            let source = try profiles.source()
            if case .keys(let keys) = source { return keys }
            switch try state.withLock({ try step(&$0, source: source) }) {
            case .use(let credentials): return credentials
            case .wait(let end): try await wait(for: end, until: deadline)
            }
        }
    }

    /// Whether there are other credentials than those that the bucket rejected; temporary ones are then refreshed, at
    /// most once in `Limits.credentialRenewalSecondsMin`.
    func isRenewed(_ rejected: AWSCredentials, before deadline: ContinuousClock.Instant) async -> Bool {
        let stream = state.withLock { state -> AsyncStream<Void>? in
            let date = now()
            guard let cache = state.cache, cache.issued.credentials == rejected, cache.canRenew(at: date) else {
                return nil
            }
            state.cache?.renewalDate = date
            if state.refresh == nil { begin(cache.source, in: &state) }
            return waiter(&state)
        }
        // After a failure the rejected ones are kept: another request may still be allowed with them.
        if let stream, (try? await wait(for: stream, until: deadline)) == nil { return false }
        guard let current = try? await credentials(before: deadline) else { return false }
        return current != rejected
    }

    /// Cancels a running refresh.
    func shutdown() {
        state.withLock { state in
            state.isShutDown = true
            state.refresh?.task.cancel()
        }
    }

    // MARK: Refresh

    private func step(_ state: inout State, source: AWSCredentialSource) throws -> Step {
        let date = now()
        if let cache = state.cache, cache.source == source, cache.isValid(at: date) {
            if cache.refreshDate <= date, state.refresh == nil { begin(source, in: &state) }
            return .use(cache.issued.credentials)
        }
        if state.refresh == nil {
            if let failure = state.failure, failure.source == source,
                0..<Limits.credentialFailureSeconds ~= date.timeIntervalSince(failure.at)
            {
                throw failure.error
            }
            begin(source, in: &state)
        }
        return .wait(waiter(&state))
    }

    /// A stream that ends when the running refresh ends.
    private func waiter(_ state: inout State) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        if state.refresh == nil { continuation.finish() } else { state.waiters.append(continuation) }
        return stream
    }

    private func begin(_ source: AWSCredentialSource, in state: inout State) {
        guard !state.isShutDown else { return }
        let task = Task { [self] in
            let result: Result<IssuedCredentials, any Error>
            do { result = .success(try await fetch(source)) } catch { result = .failure(error) }
            end(source, result: result)
        }
        state.refresh = (source, task)
    }

    private func end(_ source: AWSCredentialSource, result: Result<IssuedCredentials, any Error>) {
        let date = now()
        let waiters = state.withLock { state in
            switch result {
            case .success(let issued):
                state.cache = CredentialCache(source: source, issued: issued, fetchedAt: date)
                state.failure = nil
            case .failure(let error):
                let known = error as? AttachPrepError ?? AttachPrepError(wrapping: error)
                state.failure = (source, known, date)
                state.cache?.postpone(from: date)
            }
            defer { state.waiters = [] }
            state.refresh = nil
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
        if !state.withLock(\.isShutDown) { log(result, source: source) }
    }

    private func log(_ result: Result<IssuedCredentials, any Error>, source: AWSCredentialSource) {
        switch result {
        case .success(let issued):
            let end = issued.expiration.map(Timestamp.text) ?? "unknown"
            logger.info("S3 credentials obtained", metadata: ["source": "\(source.name)", "expires": "\(end)"])
        case .failure(let error):
            let until = state.withLock { $0.cache?.issued.expiration }.map(Timestamp.text)
            let known = error as? AttachPrepError
            logger.warning(
                "S3 credentials could not be obtained",
                metadata: [
                    "source": "\(source.name)", "error": "\(known?.message ?? "\(type(of: error))")",
                    "detail": "\(known?.detail ?? "none")",
                    "current": "\(until.map { "valid until \($0)" } ?? "none")",
                ])
        }
    }

    /// Waits for the end of a refresh, which continues for the others when this caller gives up.
    private func wait(for end: AsyncStream<Void>, until deadline: ContinuousClock.Instant) async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in end {} }
            group.addTask { try? await ContinuousClock().sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
        if Task.isCancelled || state.withLock(\.isShutDown) { throw AttachPrepError.cancelled }
        if ContinuousClock.now >= deadline { throw AttachPrepError.deadlinePassed(at: "publishing") }
    }
}

/// Temporary credentials and when to replace them. Pure.
struct CredentialCache: Sendable {
    let source: AWSCredentialSource
    let issued: IssuedCredentials
    /// When they were obtained, or when a bucket that rejected them last caused a refresh.
    var renewalDate: Date
    /// From then on, a refresh is due.
    private(set) var refreshDate: Date

    init(source: AWSCredentialSource, issued: IssuedCredentials, fetchedAt: Date) {
        (self.source, self.issued, renewalDate) = (source, issued, fetchedAt)
        if let expiration = issued.expiration {
            let early = expiration.addingTimeInterval(-Limits.credentialRefreshSeconds)
            // A source may return the same credentials until shortly before they expire.
            let soonest = Self.retryDate(expiration, from: fetchedAt)
            // An expiration in the far future may be wrong: no session of a role is longer.
            let latest = fetchedAt.addingTimeInterval(Limits.credentialAgeSecondsMax)
            refreshDate = min(max(early, soonest), latest)
        } else if case .process = source {
            // Without an end, a program provides permanent keys.
            refreshDate = .distantFuture
        } else {
            refreshDate = fetchedAt.addingTimeInterval(Limits.credentialUnknownEndSeconds)
        }
    }

    func isValid(at date: Date) -> Bool { issued.expiration.map { date < $0 } ?? true }

    /// Whether rejected credentials may be replaced already.
    func canRenew(at date: Date) -> Bool {
        abs(date.timeIntervalSince(renewalDate)) >= Limits.credentialRenewalSecondsMin
    }

    /// Sets the next attempt after a failed refresh.
    mutating func postpone(from date: Date) {
        refreshDate = Self.retryDate(issued.expiration, from: date)
    }

    private static func retryDate(_ expiration: Date?, from date: Date) -> Date {
        let left = expiration.map { $0.timeIntervalSince(date) / 2 } ?? Limits.credentialRetrySeconds
        return date.addingTimeInterval(min(max(left, Limits.credentialFailureSeconds), Limits.credentialRetrySeconds))
    }
}

extension Limits {
    /// Temporary credentials are refreshed this long before they end: EC2 has new ones at least five minutes before.
    static let credentialRefreshSeconds = 300.0
    /// The longest wait from a failed refresh to the next while the credentials are valid.
    static let credentialRetrySeconds = 60.0
    /// Without valid credentials, the wait from a failed attempt to the next; callers get the same error meanwhile.
    static let credentialFailureSeconds = 1.0
    /// A bucket that rejects credentials causes at most one refresh in this time.
    static let credentialRenewalSecondsMin = 60.0
    /// Credentials without an end are refreshed after this time.
    static let credentialUnknownEndSeconds = 900.0
    /// Credentials are refreshed after this time at the latest: the longest session of a role.
    static let credentialAgeSecondsMax = 43_200.0
}
