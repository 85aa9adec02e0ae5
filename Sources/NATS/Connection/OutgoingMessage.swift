internal import CNATS

/// A message that is to be sent.
package struct OutgoingMessage: Sendable {
    package var subject: String
    package var bytes: [UInt8]
    package var headers: [(name: String, value: String)]

    package init(_ subject: String, _ bytes: [UInt8] = [], headers: [(name: String, value: String)] = []) {
        self.subject = subject
        self.bytes = bytes
        self.headers = headers
    }

    /// Hands it to the library, which writes it: may wait for the socket.
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
        try unsafe create(&message, reply).check("make a message")
        guard let message = unsafe message else {
            throw NATSError.library(code: 0, operation: "make a message", text: "no memory")
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
