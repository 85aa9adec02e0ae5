internal import CNATS

/// A subscription to a subject; owns a `natsSubscription`.
///
/// C: `natsConnection_Subscribe`; the library delivers each subscription's messages on one thread.
@safe final class NATSSubscription: Sendable {
    /// The library guards the object behind it with its own locks.
    private nonisolated(unsafe) let handle: OpaquePointer

    init(
        _ subject: String, on connection: OpaquePointer, _ receive: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) {
        let listener = unsafe Unmanaged.passRetained(Listener(receive)).toOpaque()
        var handle: OpaquePointer?
        let status = unsafe natsConnection_Subscribe(&handle, connection, subject, deliver, listener)
        guard status == NATS_OK, let handle = unsafe handle else {
            unsafe Unmanaged<Listener>.fromOpaque(listener).release()
            try status.check("subscribe")
            throw NATSError.library(code: 0, operation: "subscribe", text: "out of memory")
        }
        unsafe self.handle = handle
        // Releases the listener: no message follows this callback.
        try unsafe natsSubscription_SetOnCompleteCB(
            handle,
            { context in if let context = unsafe context { unsafe Unmanaged<Listener>.fromOpaque(context).release() } },
            listener
        ).check("set the completion callback")
        // Every message answers a request, so requests bound their number; the library's limit would drop some.
        try unsafe natsSubscription_SetPendingLimits(handle, -1, -1).check("set the pending limits")
    }

    deinit {
        unsafe natsSubscription_Destroy(handle)
    }

    private final class Listener: Sendable {
        let receive: @Sendable (NATSMessage) -> Void

        init(_ receive: @escaping @Sendable (NATSMessage) -> Void) {
            self.receive = receive
        }

        static func of(_ context: UnsafeMutableRawPointer) -> Listener {
            unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        }
    }

    private static func receive(_ message: OpaquePointer, _ context: UnsafeMutableRawPointer) {
        unsafe Listener.of(context).receive(NATSMessage(consuming: message))
    }

    fileprivate static func delivered(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
        guard let message = unsafe message, let context = unsafe context else { return }
        unsafe receive(message, context)
    }
}

private func deliver(
    _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe NATSSubscription.delivered(message, context)
}
