internal import Linux
internal import SafeArithmetic
internal import Synchronization

/// A transfer that another thread submitted to the loop.
struct TransferTask: Sendable {
    let id: UInt64
    var settings: TransferSettings
    let observer: any TransferObserver
    /// Called exactly once: on the loop thread, on the submitting thread when the loop has stopped, or on the watchdog
    /// thread when the loop was abandoned.
    let finish: @Sendable (TransferReport) -> Void
}

/// The transfers that other threads submit to the loop, and those that the loop runs. It outlives an abandoned loop,
/// and starts the next one.
final class LoopMailbox: Sendable {
    struct Mail {
        var tasks: [TransferTask] = []
        var cancelled: [UInt64] = []
        var isStopping = false
    }

    private struct State {
        var mail = Mail()
        /// Transfers that the loop has started and not reported yet.
        var begun: [UInt64: TransferTask] = [:]
        var lastID: UInt64 = 0
        /// When a cancellation or stop was requested that the loop has not collected yet.
        var requestedAt: ContinuousClock.Instant?
        /// The handle of the loop; nil when the loop has ended or was abandoned.
        var multi: MultiHandle?
        /// Whether the handle is being closed and must not be woken any more.
        var isClosing = false
        var isEnded = false
        var afterEnd: [@Sendable () -> Void] = []
        var abandonedCount = 0
        /// Abandoned threads whose libcurl call has not returned.
        var stuckCount = 0
    }

    /// The most stuck threads, each of which may use a whole core. Beyond that no transfer is started any more.
    private static let stuckThreadsMax = 4

    private let idleConnectionsMax: Int
    private let onAbandoned: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// - Parameter onAbandoned: Called on the watchdog thread with the number of loops abandoned so far.
    init(idleConnectionsMax: Int, onAbandoned: @escaping @Sendable (Int) -> Void) {
        self.idleConnectionsMax = idleConnectionsMax
        self.onAbandoned = onAbandoned
    }

    /// Starts the loop thread.
    ///
    /// - Throws: When libcurl or the thread cannot be started.
    func launch() throws(CurlError) {
        let multi = try MultiHandle(idleConnectionsMax: idleConnectionsMax)
        let isWanted = state.withLock { state in
            guard state.multi == nil, !state.isEnded else { return false }
            state.multi = multi
            return true
        }
        guard isWanted else { return }
        multi.watch.belongs(to: Owner(mailbox: self, multi: multi))
        do { try DedicatedThread.start(name: "curl") { LoopThread(self, multi).run() } } catch {
            state.withLock { $0.multi = nil }
            multi.close()
            throw CurlError(
                interface: .multi, rawCode: 0, operation: "start the download thread",
                text: "the system cannot create a thread")
        }
    }

    var abandonedCount: Int { state.withLock { $0.abandonedCount } }
    var stuckCount: Int { state.withLock { $0.stuckCount } }

    // MARK: From other threads

    func nextID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    func start(_ task: TransferTask) {
        let (isOver, hasLoop) = state.withLock { state in
            guard !state.isEnded, !state.mail.isStopping else { return (true, true) }
            state.mail.tasks.append(task)
            Self.wakeUp(state)
            return (false, state.multi != nil)
        }
        if isOver { task.finish(TransferReport(.cancelled)) }
        if !hasLoop { relaunch() }
    }

    func wakeUp() {
        state.withLock { Self.wakeUp($0) }
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.mail.cancelled.append(id)
            state.requestedAt = state.requestedAt ?? .now
            Self.wakeUp(state)
        }
    }

    /// Stops the loop; `afterEnd` runs when its thread has closed all connections, or at once if it already has.
    func stop(afterEnd: (@Sendable () -> Void)? = nil) {
        let isOver = state.withLock { state in
            state.mail.isStopping = true
            guard !state.isEnded else { return true }
            guard let multi = state.multi else {
                // All loops were abandoned, so that no thread is left to stop.
                state.isEnded = true
                return true
            }
            if let afterEnd { state.afterEnd.append(afterEnd) }
            state.requestedAt = state.requestedAt ?? .now
            multi.watch.setActive(true)
            Self.wakeUp(state)
            return false
        }
        if isOver {
            drain().forEach { $0.finish(TransferReport(.cancelled)) }
            afterEnd?()
        }
    }

    private func drain() -> [TransferTask] {
        state.withLock { state in
            defer { state.mail.tasks = [] }
            return state.mail.tasks
        }
    }

    /// Wakes the loop. That fails only when the socket buffer is full of earlier wake-ups; then the loop is awake.
    private static func wakeUp(_ state: borrowing State) {
        guard !state.isClosing else { return }
        try? state.multi?.wakeUp()
    }

    // MARK: From the loop thread

    /// Everything submitted since the last call; nil for an abandoned loop.
    func collect(for multi: MultiHandle) -> Mail? {
        state.withLock { state in
            guard state.multi === multi else { return nil }
            let mail = state.mail
            for task in mail.tasks { state.begun[task.id] = task }
            (state.mail.tasks, state.mail.cancelled, state.requestedAt) = ([], [], nil)
            return mail
        }
    }

    /// Reports a transfer once; later reports of an abandoned loop are ignored.
    func finish(_ id: UInt64, report: TransferReport) {
        state.withLock { $0.begun.removeValue(forKey: id) }?.finish(report)
    }

    /// Marks the handle as closing, so that it is not woken any more.
    func beginClosing(_ multi: MultiHandle) {
        state.withLock { state in
            guard state.multi === multi else { return }
            (state.isClosing, state.requestedAt) = (true, .now)
        }
    }

    /// Marks the loop as ended after its thread has closed everything, and reports what is left.
    func close(_ multi: MultiHandle) {
        let (tasks, afterEnd) = state.withLock { state -> ([TransferTask], [@Sendable () -> Void]) in
            if multi.watch.isAbandoned { state.stuckCount -= 1 }
            guard state.multi === multi else { return ([], []) }
            (state.multi, state.isEnded) = (nil, true)
            defer { (state.mail.tasks, state.afterEnd) = ([], []) }
            return (state.mail.tasks, state.afterEnd)
        }
        tasks.forEach { $0.finish(TransferReport(.cancelled)) }
        afterEnd.forEach { $0() }
    }

    // MARK: From the watchdog thread

    private final class Owner: LoopOwner {
        private let mailbox: LoopMailbox
        private let multi: MultiHandle

        init(mailbox: LoopMailbox, multi: MultiHandle) {
            self.mailbox = mailbox
            self.multi = multi
        }

        var earliestEnd: ContinuousClock.Instant? { mailbox.earliestEnd }

        func abandonLoop() { mailbox.abandon(multi) }
    }

    /// The earliest deadline, including transfers that wait: the loop does not check them while its thread is stuck.
    private var earliestEnd: ContinuousClock.Instant? {
        state.withLock { state in
            let deadlines = state.begun.values.map(\.settings.limits.deadline)
            let waiting = state.mail.tasks.map(\.settings.limits.deadline)
            return (deadlines + waiting + [state.requestedAt].compactMap(\.self)).min()
        }
    }

    /// Reports all transfers of a loop, and starts another loop for those that wait.
    private func abandon(_ multi: MultiHandle) {
        let (reports, afterEnd, count) = state.withLock { state -> ([() -> Void], [@Sendable () -> Void], Int) in
            guard state.multi === multi else { return ([], [], 0) }
            state.multi = nil
            state.isClosing = false
            state.abandonedCount += 1
            state.stuckCount += 1
            let cancelled = Set(state.mail.cancelled)
            var reports: [() -> Void] = []
            for task in state.begun.values {
                let isUnwanted = state.mail.isStopping || cancelled.contains(task.id)
                let isOverdue = task.settings.limits.deadline <= .now
                let report = TransferReport(isUnwanted ? .cancelled : isOverdue ? .deadlineReached : .abandoned)
                reports.append { task.finish(report) }
            }
            state.begun = [:]
            guard state.mail.isStopping else { return (reports, [], state.abandonedCount) }
            for task in state.mail.tasks { reports.append { task.finish(TransferReport(.cancelled)) } }
            state.mail.tasks = []
            state.isEnded = true
            defer { state.afterEnd = [] }
            return (reports, state.afterEnd, state.abandonedCount)
        }
        reports.forEach { $0() }
        afterEnd.forEach { $0() }
        if count > 0 { onAbandoned(count) }
        if state.withLock({ !$0.mail.tasks.isEmpty }) { relaunch() }
    }

    /// Starts a loop to replace an abandoned one, unless too many threads are stuck.
    private func relaunch() {
        var failure = CurlError(
            interface: .multi, rawCode: 0, operation: "start another download thread",
            text: "too many threads are stuck in libcurl")
        if stuckCount < Self.stuckThreadsMax {
            do { return try launch() } catch { failure = error }
        }
        drain().forEach { $0.finish(TransferReport(.failed(failure))) }
    }
}
