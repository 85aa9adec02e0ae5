internal import CNATS
internal import Synchronization

/// What the library's threads tell of a connection.
final class ConnectionEvents: Sendable {
    private struct State {
        var isConnected = true
        var onLoss: (@Sendable () -> Void)?
        var onReturn: (@Sendable () -> Void)?
        var onArrival: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    var isConnected: Bool { state.withLock { $0.isConnected } }

    /// - Parameter onArrival: called before the connection to another server counts as one.
    func listen(
        onLoss: @escaping @Sendable () -> Void, onArrival: @escaping @Sendable () -> Void,
        onReturn: @escaping @Sendable () -> Void
    ) {
        state.withLock {
            $0.onLoss = onLoss
            $0.onArrival = onArrival
            $0.onReturn = onReturn
        }
    }

    func lost() {
        let tell = state.withLock { state in
            state.isConnected = false
            return state.onLoss
        }
        tell?()
    }

    func returned() {
        state.withLock { $0.onArrival }?()
        let tell = state.withLock { state in
            state.isConnected = true
            return state.onReturn
        }
        tell?()
    }

    /// Has the library call this object until the connection is closed; it is kept alive as long.
    func attach(to options: NATSOptions) throws(NATSError) {
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let handle = unsafe options.handle
        try unsafe natsOptions_SetDisconnectedCB(handle, { unsafe ConnectionEvents.of($1).lost() }, context)
            .check("hear of a lost connection")
        try unsafe natsOptions_SetReconnectedCB(handle, { unsafe ConnectionEvents.of($1).returned() }, context)
            .check("hear of a new connection")
        // Else the library prints it.
        try unsafe natsOptions_SetErrorHandler(handle, { _, _, _, _ in }, context).check("hear of errors")
        try unsafe natsOptions_SetClosedCB(
            handle,
            { _, context in
                unsafe ConnectionEvents.of(context).lost()
                if let context = unsafe context {
                    unsafe Unmanaged<ConnectionEvents>.fromOpaque(context).release()
                }
            }, context
        ).check("hear of the end")
    }

    /// What `attach` kept alive, for a connection that never came to be: its end is not told.
    func detach() {
        unsafe Unmanaged.passUnretained(self).release()
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> ConnectionEvents {
        guard let context = unsafe context else { preconditionFailure("the library gives back what it was given") }
        return unsafe Unmanaged<ConnectionEvents>.fromOpaque(context).takeUnretainedValue()
    }
}
