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

    mutating func body(_ bytes: Int, at now: NIODeadline) {
        lastByteAt = now
        bodyBytes = bodyBytes.adding(clamping: bytes)
    }
}
