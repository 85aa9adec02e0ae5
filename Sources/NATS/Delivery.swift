internal import SafeArithmetic

/// A message delivered by a consumer, to be acknowledged.
package struct Delivery: Sendable, Hashable {
    package var subject: String
    package var bytes: [UInt8]
    /// The operation on a key of a bucket (`KV-Operation`), such as a removal; nil for a value.
    package var operation: String?
    /// The subject for acknowledgments. Each delivery of a message has another one; any of them is accepted.
    package var reply: String
    /// The number of deliveries of this message, including this one.
    package var count: Int
    /// The message's sequence number in the stream.
    package var sequence: UInt64
    /// The delivery's sequence number in the consumer.
    package var consumerSequence: UInt64
    /// The number of messages that the consumer had yet to deliver after this one.
    package var pending: UInt64

    /// Parses the reply subject: `$JS.ACK.<stream>.<consumer>.<count>.<sequence>.<consumerSequence>.<time>.<pending>`,
    /// or the same with a domain and an account hash after `$JS.ACK`. Nil for a message that no consumer sent.
    init?(_ message: NATSMessage) {
        guard let reply = message.reply, reply.hasPrefix("$JS.ACK.") else { return nil }
        let parts = reply.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let first = parts.count == 9 ? 4 : 6
        // Bounded: indexes, compared with the count above.
        guard parts.count >= 9, parts.count > first + 4, let count = Self.number(parts[first]),
            // Bounded: indexes, compared with the count above.
            let sequence = Self.number(parts[first + 1]), let consumerSequence = Self.number(parts[first + 2]),
            let pending = Self.number(parts[first + 4])  // Bounded: indexes, compared with the count above.
        else { return nil }
        subject = message.subject
        bytes = message.bytes
        operation = message.operation
        self.reply = reply
        self.count = Int(clamping: count)
        self.sequence = sequence
        self.consumerSequence = consumerSequence
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
    /// Checks that the consumer sequence numbers have no gap, which a lost message leaves.
    ///
    /// - Parameter consumerSequence: that of the preceding delivery; 0 for none.
    /// - Throws: `NATSError.unreadable`.
    func checkOrder(after consumerSequence: UInt64) throws {
        for (index, delivery) in enumerated()
        where delivery.consumerSequence
            != consumerSequence.adding(clamping: UInt64(clamping: index)).adding(clamping: 1)
        {
            throw NATSError.unreadable(subject: delivery.subject, text: "messages were lost in transit")
        }
    }
}

package enum Acknowledgment: Sendable, Hashable {
    /// Processed: a work queue removes the message.
    case done
    /// Still being processed: restarts the acknowledgment timeout.
    case inProgress
    /// Deliver the message again after this time.
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
    /// Sends an acknowledgment without waiting for confirmation. If it is lost, the message is delivered again.
    package func acknowledge(_ reply: String, _ acknowledgment: Acknowledgment) {
        connection.publish(OutgoingMessage(reply, Array(acknowledgment.text.utf8)))
    }
}
