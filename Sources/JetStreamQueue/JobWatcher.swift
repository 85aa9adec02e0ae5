import AttachPrepJobs
import Logging
import NATS
import RichPush
import SQLiteQueue
import Synchronization

/// Keeps the read model up to date: watches the bucket of jobs, and resumes from the last revision after an error.
final class JobWatcher: Sendable {
    private let bucket: KeyValueBucket
    private let mirror: JobMirror
    private let clock: StoreClock
    private let logger: Logger
    private let state = Mutex((revision: UInt64(0), isCurrent: false, receivedAt: ContinuousClock.now))

    /// The longest interruption after which a watch is resumed; after a longer one the read model is rebuilt. Markers
    /// of removed keys are kept for twice this time.
    static let watchGapSecondsMax = 12.0 * 3600

    init(bucket: KeyValueBucket, mirror: JobMirror, clock: StoreClock, logger: Logger) {
        self.bucket = bucket
        self.mirror = mirror
        self.clock = clock
        self.logger = logger
    }

    /// - Parameter onCurrent: called when the read model contains all entries that exist, at least once.
    func run(_ onCurrent: @escaping @Sendable () -> Void) async {
        while !Task.isCancelled {
            do {
                try await resetIfStale()
                try await bucket.watch(after: state.withLock { $0.revision }) { [self] entries, isCurrent in
                    try await receive(entries)
                    guard isCurrent else { return }
                    state.withLock { $0.isCurrent = true }
                    onCurrent()
                }
            } catch let error as ReplicaBehindError {
                logger.warning(
                    "a NATS server's copy of the queue is behind the leader's; watching through another server",
                    metadata: ["stream": "\(error.stream)", "number": "\(error.sequence)"])
            } catch {
                if Task.isCancelled { return }
                logger.debug("watching the jobs again after an error", metadata: ["error": "\(error)"])
                try? await ContinuousClock().sleep(for: Self.pause)
            }
        }
    }

    /// The pause before the watch is resumed. A cluster elects a new leader within 1 to 2 s.
    private static let pause = Duration.milliseconds(250)

    private func resetIfStale() async throws {
        let receivedAt = state.withLock { $0.receivedAt }
        guard ContinuousClock.now - receivedAt > .seconds(Self.watchGapSecondsMax) else { return }
        try await mirror.clear()
        mirror.progress.reset()
        state.withLock { $0 = (revision: 0, isCurrent: false, receivedAt: .now) }
    }

    private func receive(_ entries: [KeyValueEntry]) async throws {
        state.withLock { $0.receivedAt = .now }
        guard let last = entries.last else { return }
        try await mirror.apply(entries, at: clock.now(), notifiesListeners: state.withLock { $0.isCurrent })
        state.withLock { $0.revision = max($0.revision, last.revision) }
        mirror.progress.received(last.revision)
    }
}

/// The last revision that the read model has applied, with callers that wait for a revision.
final class MirrorProgress: Sendable {
    private struct Waiter {
        var revision: UInt64
        var end: ContinuousClock.Instant
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var revision: UInt64 = 0
        /// Whether the last wait timed out; until the next change arrives, calls do not wait.
        var isSilent = false
        var waiters: [Waiter] = []
        /// Whether the timeout task is running.
        var isWatched = false
    }

    private let state = Mutex(State())

    func received(_ revision: UInt64) {
        let ready = state.withLock { state in
            state.revision = max(state.revision, revision)
            state.isSilent = false
            let reached = state.revision
            return Self.remove(&state.waiters) { $0.revision <= reached }
        }
        for waiter in ready { waiter.continuation.resume(returning: true) }
    }

    /// Waits until all changes up to a revision are applied, at most `time`.
    ///
    /// - Returns: Whether they were applied.
    func wait(for revision: UInt64, atMost time: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            let (known, isUnwatched) = state.withLock { state -> (Bool?, Bool) in
                if state.revision >= revision { return (true, false) }
                if state.isSilent { return (false, false) }
                state.waiters.append(Waiter(revision: revision, end: .now + time, continuation: continuation))
                defer { state.isWatched = true }
                return (nil, !state.isWatched)
            }
            if let known { continuation.resume(returning: known) }
            if isUnwatched { scheduleTimeoutCheck() }
        }
    }

    /// Checks for timed-out waiters every 50 ms while there are any; a timer for each would cost more than the wait.
    private func scheduleTimeoutCheck() {
        Task {
            repeat {
                try? await ContinuousClock().sleep(for: Self.tick)
            } while giveUp(at: .now)
        }
    }

    private static let tick = Duration.milliseconds(50)

    /// Ends the waits whose time limit has passed.
    ///
    /// - Returns: Whether there are still waiters.
    private func giveUp(at now: ContinuousClock.Instant) -> Bool {
        let (late, isLeft) = state.withLock { state in
            let late = Self.remove(&state.waiters) { $0.end <= now }
            if !late.isEmpty { state.isSilent = true }
            state.isWatched = !state.waiters.isEmpty
            return (late, state.isWatched)
        }
        for waiter in late { waiter.continuation.resume(returning: false) }
        return isLeft
    }

    private static func remove(_ waiters: inout [Waiter], where isIncluded: (Waiter) -> Bool) -> [Waiter] {
        let removed = waiters.filter(isIncluded)
        if !removed.isEmpty { waiters.removeAll(where: isIncluded) }
        return removed
    }

    /// Restarts at revision 0, for a watch from the beginning.
    func reset() { state.withLock { $0.revision = 0 } }
}

/// Caches this machine's changes, so that they need not be decoded when the watch delivers them.
final class LocalWriteCache: Sendable {
    /// The maximum number of changes in each of the two generations, about 5 KB each. More than are ever in flight,
    /// except for large batches, of which some are decoded.
    private static let countMax = 1_024

    private struct Change {
        var bytes: [UInt8]
        var job: StoredJob
    }

    private struct State {
        var young: [String: Change] = [:]
        var old: [String: Change] = [:]
    }

    private let state = Mutex(State())

    /// Encodes a job for the servers and caches it.
    func bytes(of job: StoredJob) throws -> [UInt8] {
        let change = Change(bytes: try job.bytes(), job: job)
        state.withLock { state in
            state.young[job.id] = change
            guard state.young.count >= Self.countMax else { return }
            (state.old, state.young) = (state.young, [:])
        }
        return change.bytes
    }

    /// The decoded job, if these bytes are the last that this machine sent for it.
    func job(_ id: String, _ bytes: [UInt8]) -> StoredJob? {
        let change = state.withLock { $0.young[id] ?? $0.old[id] }
        return change.flatMap { $0.bytes == bytes ? $0.job : nil }
    }
}
