internal import CNATS

/// A subject that is listened to; owns a natsSubscription.
///
/// C: `natsConnection_Subscribe`; the library calls from one thread of the subscription's own.
@safe final class NATSSubscription: Sendable {
    /// The library's own locks guard what it points to.
    private nonisolated(unsafe) let handle: OpaquePointer

    init(
        _ subject: String, on connection: OpaquePointer, _ hear: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) {
        let listener = unsafe Unmanaged.passRetained(Listener(hear)).toOpaque()
        var handle: OpaquePointer?
        let status = unsafe natsConnection_Subscribe(&handle, connection, subject, deliver, listener)
        guard status == NATS_OK, let handle = unsafe handle else {
            unsafe Unmanaged<Listener>.fromOpaque(listener).release()
            try status.check("subscribe")
            throw NATSError.library(code: 0, operation: "subscribe", text: "no memory")
        }
        unsafe self.handle = handle
        // No message comes after that.
        try unsafe natsSubscription_SetOnCompleteCB(
            handle,
            { context in if let context = unsafe context { unsafe Unmanaged<Listener>.fromOpaque(context).release() } },
            listener
        ).check("hear of a subscription's end")
        // Answers are asked for, so that their number is bounded by us; the library's limit would drop some.
        try unsafe natsSubscription_SetPendingLimits(handle, -1, -1).check("set the pending limits")
    }

    deinit {
        unsafe natsSubscription_Destroy(handle)
    }

    private final class Listener: Sendable {
        let hear: @Sendable (NATSMessage) -> Void

        init(_ hear: @escaping @Sendable (NATSMessage) -> Void) {
            self.hear = hear
        }

        static func of(_ context: UnsafeMutableRawPointer) -> Listener {
            unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
        }
    }

    private static func hear(_ message: OpaquePointer, _ context: UnsafeMutableRawPointer) {
        unsafe Listener.of(context).hear(NATSMessage(consuming: message))
    }

    fileprivate static func delivered(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) {
        guard let message = unsafe message, let context = unsafe context else { return }
        unsafe hear(message, context)
    }
}

private func deliver(
    _ connection: OpaquePointer?, _ subscription: OpaquePointer?, _ message: OpaquePointer?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe NATSSubscription.delivered(message, context)
}
