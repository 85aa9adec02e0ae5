internal import SafeArithmetic

/// A message that a consumer gave us, to be acknowledged.
package struct Delivery: Sendable, Hashable {
    package var subject: String
    package var bytes: [UInt8]
    /// What was done to a key of a bucket, when it was not given a value.
    package var operation: String?
    /// Where it is acknowledged; a later delivery of the same message has another one, and either will do.
    package var reply: String
    /// How often it has been given to somebody, this time included.
    package var count: Int
    /// Its number in the stream.
    package var number: UInt64
    /// Its place among all that the consumer has given.
    package var place: UInt64
    /// Messages that the consumer had still to give after it.
    package var pending: UInt64

    /// Reads where it is acknowledged: `$JS.ACK.<stream>.<consumer>.<count>.<number>.<place>.<time>.<pending>`, or the
    /// same with a domain and an account's hash after `$JS.ACK`. Nil for what no consumer sent.
    init?(_ message: NATSMessage) {
        guard let reply = message.reply, reply.hasPrefix("$JS.ACK.") else { return nil }
        let parts = reply.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let first = parts.count == 9 ? 4 : 6
        // Bounded: indexes, compared with the count above.
        guard parts.count >= 9, parts.count > first + 4, let count = Self.number(parts[first]),
            // Bounded: indexes, compared with the count above.
            let number = Self.number(parts[first + 1]), let place = Self.number(parts[first + 2]),
            let pending = Self.number(parts[first + 4])  // Bounded: indexes, compared with the count above.
        else { return nil }
        subject = message.subject
        bytes = message.bytes
        operation = message.operation
        self.reply = reply
        self.count = Int(clamping: count)
        self.number = number
        self.place = place
        self.pending = pending
    }

    private static func number(_ digits: Substring.UTF8View) -> UInt64? {
        guard !digits.isEmpty, digits.count < 20 else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            // Bounded: fewer than 20 digits, which 64 bits hold.
            number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The part of its subject after the last dot.
    package var lastToken: String {
        guard let dot = subject.utf8.lastIndex(of: UInt8(ascii: ".")) else { return subject }
        return String(subject[subject.utf8.index(after: dot)...])
    }
}

extension [Delivery] {
    /// A message that was lost on the way leaves a hole.
    ///
    /// - Parameter place: of the one before them; 0 for none.
    /// - Throws: `NATSError.unreadable`.
    func checkOrder(after place: UInt64) throws {
        for (index, delivery) in enumerated()
        where delivery.place != place.adding(clamping: UInt64(clamping: index)).adding(clamping: 1) {
            throw NATSError.unreadable(subject: delivery.subject, text: "messages were lost on the way")
        }
    }
}

/// What is said of a delivery.
package enum Verdict: Sendable, Hashable {
    /// It is done with: a work queue forgets it.
    case done
    /// It is still being worked on: the time to acknowledge it starts anew.
    case inProgress
    /// Give it to somebody later.
    case later(Duration)

    fileprivate var text: String {
        switch self {
        case .done: "+ACK"
        case .inProgress: "+WPI"
        case .later(let delay) where delay <= .zero: "-NAK"
        case .later(let delay): #"-NAK {"delay": \#(delay.nanoseconds)}"#
        }
    }
}

extension JetStream {
    /// Says it, without waiting for anybody to hear it: what is lost on the way leads to another delivery.
    package func tell(_ reply: String, _ verdict: Verdict) {
        connection.publish(OutgoingMessage(reply, Array(verdict.text.utf8)))
    }
}
