internal import SafeArithmetic
internal import Synchronization

/// One transfer as ordered from another thread.
struct TransferOrder: Sendable {
    let id: UInt64
    var settings: TransferSettings
    let observer: any TransferObserver
    /// Called exactly once: on the loop's thread, on the orderer's when the loop has stopped, or on the watch's when
    /// the loop was abandoned.
    let finish: @Sendable (TransferReport) -> Void
}

/// What other threads leave for the loop, and what the loop has taken up: it outlives a loop that is abandoned.
final class LoopMailbox: Sendable {
    struct Mail {
        var orders: [TransferOrder] = []
        var cancelled: [UInt64] = []
        var isStopping = false
    }

    private struct State {
        var mail = Mail()
        /// Taken up by the loop, and not reported yet.
        var begun: [UInt64: TransferOrder] = [:]
        var lastID: UInt64 = 0
        /// When the loop was asked to cancel something or to stop, until it hears of it.
        var askedAt: ContinuousClock.Instant?
        /// The loop's handle; nil when the loop has ended or was abandoned.
        var multi: MultiHandle?
        /// Whether the handle is being closed, and must not be woken any more.
        var isClosing = false
        var isEnded = false
        var afterEnd: [@Sendable () -> Void] = []
        var abandonedCount = 0
        /// Threads that were abandoned and have not come back.
        var stuckCount = 0
    }

    /// Abandoned threads at a time; each may keep a core busy. With one more, no transfer is begun any more.
    private static let stuckThreadsMax = 4

    private let idleConnectionsMax: Int
    private let onAbandoned: @Sendable (Int) -> Void
    private let state = Mutex(State())

    /// - Parameter onAbandoned: Told how many loops were abandoned so far, on the watch's thread.
    init(idleConnectionsMax: Int, onAbandoned: @escaping @Sendable (Int) -> Void) {
        self.idleConnectionsMax = idleConnectionsMax
        self.onAbandoned = onAbandoned
    }

    /// Begins the loop.
    ///
    /// - Throws: when libcurl or the thread cannot be started.
    func launch() throws(CurlError) {
        let multi = try MultiHandle(idleConnectionsMax: idleConnectionsMax)
        let isWanted = state.withLock { state in
            guard state.multi == nil, !state.isEnded else { return false }
            state.multi = multi
            return true
        }
        guard isWanted else { return }
        multi.watch.belongs(to: Owner(mailbox: self, multi: multi))
        guard DetachedThread.start({ LoopThread(self, multi).run() }) else {
            state.withLock { $0.multi = nil }
            multi.close()
            throw CurlError(
                interface: .multi, rawCode: 0, operation: "start the download thread", text: "no thread left")
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

    func start(_ order: TransferOrder) {
        let (isOver, hasLoop) = state.withLock { state in
            guard !state.isEnded, !state.mail.isStopping else { return (true, true) }
            state.mail.orders.append(order)
            Self.wakeUp(state)
            return (false, state.multi != nil)
        }
        if isOver { order.finish(TransferReport(.cancelled)) }
        if !hasLoop { relaunch() }
    }

    func wakeUp() {
        state.withLock { Self.wakeUp($0) }
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.mail.cancelled.append(id)
            state.askedAt = state.askedAt ?? .now
            Self.wakeUp(state)
        }
    }

    /// Asks the loop to end; `afterEnd` runs when its thread has closed everything, at once if it already has.
    func stop(afterEnd: (@Sendable () -> Void)? = nil) {
        let isOver = state.withLock { state in
            state.mail.isStopping = true
            guard !state.isEnded else { return true }
            guard let multi = state.multi else {
                // Every loop was abandoned: nobody is left to end anything.
                state.isEnded = true
                return true
            }
            if let afterEnd { state.afterEnd.append(afterEnd) }
            state.askedAt = state.askedAt ?? .now
            multi.watch.watch(true)
            Self.wakeUp(state)
            return false
        }
        if isOver {
            drain().forEach { $0.finish(TransferReport(.cancelled)) }
            afterEnd?()
        }
    }

    private func drain() -> [TransferOrder] {
        state.withLock { state in
            defer { state.mail.orders = [] }
            return state.mail.orders
        }
    }

    /// Waking can fail only when the socket pair's buffer is full of earlier wake-ups, and then the loop is awake.
    private static func wakeUp(_ state: borrowing State) {
        guard !state.isClosing else { return }
        try? state.multi?.wakeUp()
    }

    // MARK: From the loop's thread

    /// Everything left since the last call; nil for a loop that was abandoned.
    func collect(for multi: MultiHandle) -> Mail? {
        state.withLock { state in
            guard state.multi === multi else { return nil }
            let mail = state.mail
            for order in mail.orders { state.begun[order.id] = order }
            (state.mail.orders, state.mail.cancelled, state.askedAt) = ([], [], nil)
            return mail
        }
    }

    /// Reports a transfer, once: what an abandoned loop finds out later is too late.
    func finish(_ id: UInt64, _ report: TransferReport) {
        state.withLock { $0.begun.removeValue(forKey: id) }?.finish(report)
    }

    /// The loop's handle is about to be closed: nobody wakes it any more.
    func beginClosing(_ multi: MultiHandle) {
        state.withLock { state in
            guard state.multi === multi else { return }
            (state.isClosing, state.askedAt) = (true, .now)
        }
    }

    /// The loop's thread has closed everything: tells those who wait.
    func close(_ multi: MultiHandle) {
        let (orders, afterEnd) = state.withLock { state -> ([TransferOrder], [@Sendable () -> Void]) in
            if multi.watch.isAbandoned { state.stuckCount -= 1 }
            guard state.multi === multi else { return ([], []) }
            (state.multi, state.isEnded) = (nil, true)
            defer { (state.mail.orders, state.afterEnd) = ([], []) }
            return (state.mail.orders, state.afterEnd)
        }
        orders.forEach { $0.finish(TransferReport(.cancelled)) }
        afterEnd.forEach { $0() }
    }

    // MARK: From the watch's thread

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

    /// What waits counts as well: nobody looks after it while the loop's thread is away.
    private var earliestEnd: ContinuousClock.Instant? {
        state.withLock { state in
            let deadlines = state.begun.values.map(\.settings.limits.deadline)
            let waiting = state.mail.orders.map(\.settings.limits.deadline)
            // Bounded: lists.
            return (deadlines + waiting + [state.askedAt].compactMap(\.self)).min()
        }
    }

    /// Reports all that a loop worked on, and has another one take what waits.
    private func abandon(_ multi: MultiHandle) {
        let (reports, afterEnd, count) = state.withLock { state -> ([() -> Void], [@Sendable () -> Void], Int) in
            guard state.multi === multi else { return ([], [], 0) }
            state.multi = nil
            state.isClosing = false
            state.abandonedCount += 1
            state.stuckCount += 1
            let cancelled = Set(state.mail.cancelled)
            var reports: [() -> Void] = []
            for order in state.begun.values {
                let isUnwanted = state.mail.isStopping || cancelled.contains(order.id)
                let isOverdue = order.settings.limits.deadline <= .now
                let report = TransferReport(isUnwanted ? .cancelled : isOverdue ? .deadlineReached : .abandoned)
                reports.append { order.finish(report) }
            }
            state.begun = [:]
            guard state.mail.isStopping else { return (reports, [], state.abandonedCount) }
            for order in state.mail.orders { reports.append { order.finish(TransferReport(.cancelled)) } }
            state.mail.orders = []
            state.isEnded = true
            defer { state.afterEnd = [] }
            return (reports, state.afterEnd, state.abandonedCount)
        }
        reports.forEach { $0() }
        afterEnd.forEach { $0() }
        if count > 0 { onAbandoned(count) }
        if state.withLock({ !$0.mail.orders.isEmpty }) { relaunch() }
    }

    /// Another loop in the place of one that was abandoned, unless too many threads are stuck by now.
    private func relaunch() {
        var failure = CurlError(
            interface: .multi, rawCode: 0, operation: "begin another loop", text: "too many threads are stuck")
        if stuckCount < Self.stuckThreadsMax {
            do { return try launch() } catch { failure = error }
        }
        drain().forEach { $0.finish(TransferReport(.failed(failure))) }
    }
}
