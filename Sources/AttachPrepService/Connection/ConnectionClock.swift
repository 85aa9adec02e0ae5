import NIOCore
import SafeArithmetic

/// Since when what has been standing still on a connection.
struct ConnectionClock {
    /// No request is being read or answered.
    private(set) var restingSince = NIODeadline.now()
    /// The client has not read what was written.
    var unreadSince: NIODeadline?
    private(set) var bodySince = NIODeadline.now()
    private(set) var lastByteAt = NIODeadline.now()
    private(set) var bodyBytes = 0

    mutating func rest(from now: NIODeadline) {
        restingSince = now
        // The body after an answer was not waited for before.
        (bodySince, lastByteAt, bodyBytes) = (now, now, 0)
    }

    mutating func bodyBegins(at now: NIODeadline) {
        (bodySince, lastByteAt, bodyBytes) = (now, now, 0)
    }

    /// Until when the body has come fast enough: each byte is good for a while, and none for the time after the last.
    func bodyProgress(bytesPerSecond: Double) -> NIODeadline {
        // Bounded: a body has a limit, and so has the time that its bytes are good for.
        let end = bodySince + .nanoseconds(Int64(clamping: Double(bodyBytes) / bytesPerSecond * 1e9))
        return min(end, lastByteAt)
    }

    mutating func body(_ bytes: Int, at now: NIODeadline) {
        lastByteAt = now
        bodyBytes = bodyBytes.adding(clamping: bytes)
    }
}
