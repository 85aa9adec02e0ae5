internal import CNATS
internal import SafeArithmetic

package struct NATSMessage: Sendable {
    package var subject: String
    /// The subject for the answer to its sender or to JetStream.
    package var reply: String?
    /// The status that a server sends instead of a message: 404, 408, 409, 503.
    package var status: Int?
    /// The operation on a key of a bucket (`KV-Operation`), such as a removal; nil for a value.
    package var operation: String?
    package var bytes: [UInt8]

    /// Copies the needed parts of a `natsMsg` and destroys it.
    init(consuming message: OpaquePointer) {
        defer { unsafe natsMsg_Destroy(message) }
        subject = unsafe String(cString: natsMsg_GetSubject(message))
        reply = unsafe natsMsg_GetReply(message).map { unsafe String(cString: $0) }
        let count = max(0, Int(clamping: unsafe natsMsg_GetDataLength(message)))
        let data = unsafe UnsafeRawBufferPointer(start: natsMsg_GetData(message), count: count)
        bytes = unsafe Array(data)
        // Neither header comes with a body, so the headers of messages that have one are not parsed.
        guard bytes.isEmpty else { return }
        status = unsafe Self.header("Status", of: message).flatMap { Int($0.prefix(3)) }
        operation = unsafe Self.header("KV-Operation", of: message)
    }

    private static func header(_ name: String, of message: OpaquePointer) -> String? {
        var value: UnsafePointer<CChar>?
        guard unsafe natsMsgHeader_Get(message, name, &value) == NATS_OK else { return nil }
        return unsafe value.map { unsafe String(cString: $0) }
    }
}

package struct OutgoingMessage: Sendable {
    package var subject: String
    package var bytes: [UInt8]
    package var headers: [(name: String, value: String)]

    package init(_ subject: String, _ bytes: [UInt8] = [], headers: [(name: String, value: String)] = []) {
        self.subject = subject
        self.bytes = bytes
        self.headers = headers
    }

    /// Passes the message to the library, which writes it. May block on the socket.
    func publish(on connection: OpaquePointer, replyTo reply: String?) throws(NATSError) {
        if headers.isEmpty {
            let status =
                if let reply {
                    unsafe natsConnection_PublishRequest(connection, subject, reply, bytes, CInt(bytes.count))
                } else {
                    unsafe natsConnection_Publish(connection, subject, bytes, CInt(bytes.count))
                }
            return try status.check("publish")
        }
        var message: OpaquePointer?
        try unsafe create(&message, reply).check("create a message")
        guard let message = unsafe message else {
            throw NATSError.library(code: 0, operation: "create a message", text: "out of memory")
        }
        defer { unsafe natsMsg_Destroy(message) }
        for header in headers {
            try unsafe natsMsgHeader_Set(message, header.name, header.value).check("set a header")
        }
        try unsafe natsConnection_PublishMsg(connection, message).check("publish")
    }

    private func create(_ message: inout OpaquePointer?, _ reply: String?) -> natsStatus {
        unsafe bytes.withUnsafeBytes { buffer in
            let data = unsafe buffer.bindMemory(to: CChar.self).baseAddress
            return unsafe natsMsg_Create(&message, subject, reply, data, CInt(buffer.count))
        }
    }
}
