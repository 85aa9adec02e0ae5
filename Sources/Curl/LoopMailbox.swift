internal import Synchronization

/// One transfer as ordered from another thread.
struct TransferOrder: Sendable {
    let id: UInt64
    let settings: TransferSettings
    let observer: any TransferObserver
    /// Called exactly once, on the loop's thread or, when the loop has stopped, on the orderer's.
    let finish: @Sendable (TransferReport) -> Void
}

/// What other threads leave for the loop.
final class LoopMailbox: Sendable {
    struct Mail {
        var orders: [TransferOrder] = []
        var cancelled: [UInt64] = []
        var isStopping = false
    }

    private struct State {
        var mail = Mail()
        var lastID: UInt64 = 0
        /// nil once the loop's thread is done with it.
        var multi: MultiHandle?
        var afterEnd: [@Sendable () -> Void] = []
    }

    private let state: Mutex<State>

    init(_ multi: MultiHandle) {
        state = Mutex(State(multi: multi))
    }

    func nextID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    func start(_ order: TransferOrder) {
        let isOver = state.withLock { state in
            guard let multi = state.multi, !state.mail.isStopping else { return true }
            state.mail.orders.append(order)
            Self.wakeUp(multi)
            return false
        }
        if isOver { order.finish(TransferReport(.cancelled)) }
    }

    func wakeUp() {
        state.withLock { state in
            if let multi = state.multi { Self.wakeUp(multi) }
        }
    }

    func cancel(_ id: UInt64) {
        state.withLock { state in
            guard let multi = state.multi else { return }
            state.mail.cancelled.append(id)
            Self.wakeUp(multi)
        }
    }

    /// Asks the loop to end; `afterEnd` runs when its thread has closed everything, at once if it already has.
    func stop(afterEnd: (@Sendable () -> Void)? = nil) {
        let isOver = state.withLock { state in
            state.mail.isStopping = true
            guard let multi = state.multi else { return true }
            if let afterEnd { state.afterEnd.append(afterEnd) }
            Self.wakeUp(multi)
            return false
        }
        if isOver { afterEnd?() }
    }

    /// The loop's handle, for its own thread.
    var multi: MultiHandle? { state.withLock { $0.multi } }

    /// Everything left since the last call.
    func collect() -> Mail {
        state.withLock { state in
            let mail = state.mail
            state.mail.orders = []
            state.mail.cancelled = []
            return mail
        }
    }

    /// The loop's thread has let go of its handle: closes it, and tells those who wait.
    func close() {
        let (orders, afterEnd) = state.withLock { state in
            state.multi = nil
            defer { state.mail.orders = [] }
            return (state.mail.orders, state.afterEnd)
        }
        orders.forEach { $0.finish(TransferReport(.cancelled)) }
        afterEnd.forEach { $0() }
    }

    /// Waking can fail only when the socket pair's buffer is full of earlier wake-ups, and then the loop is awake.
    private static func wakeUp(_ multi: MultiHandle) {
        try? multi.wakeUp()
    }
}
