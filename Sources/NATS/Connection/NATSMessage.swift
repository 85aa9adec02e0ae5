internal import CNATS
internal import SafeArithmetic

/// A message as it came.
package struct NATSMessage: Sendable {
    package var subject: String
    /// Where its sender, or JetStream, waits for an answer.
    package var reply: String?
    /// What a server says instead of a message: 404, 408, 409, 503.
    package var status: Int?
    /// What was done to a key of a bucket, when it was not given a value.
    package var operation: String?
    package var bytes: [UInt8]

    /// Copies what we need of a natsMsg, which is destroyed.
    init(consuming message: OpaquePointer) {
        defer { unsafe natsMsg_Destroy(message) }
        subject = unsafe String(cString: natsMsg_GetSubject(message))
        reply = unsafe natsMsg_GetReply(message).map { unsafe String(cString: $0) }
        let count = max(0, Int(clamping: unsafe natsMsg_GetDataLength(message)))
        let data = unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count)
        bytes = unsafe Array(data)
        // Neither stands beside a content, and most messages have headers of another kind: they are not parsed for it.
        guard bytes.isEmpty else { return }
        // Bounded: text, which is nil where it is no number.
        status = unsafe Self.header("Status", of: message).flatMap { Int($0.prefix(3)) }
        operation = unsafe Self.header("KV-Operation", of: message)
    }

    /// Nil when there is none, or the message has no headers at all.
    private static func header(_ name: String, of message: OpaquePointer) -> String? {
        var value: UnsafePointer<CChar>?
        guard unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
        return unsafe value.map { unsafe String(cString: $0) }
    }
}
