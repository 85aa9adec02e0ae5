import CLinux
import Glibc
import SafeArithmetic

/// One end of a pair of connected sockets that carry whole messages, and open descriptors beside them.
///
/// Owns its descriptor. Linux: `socketpair(2)` with SOCK_SEQPACKET, `unix(7)` for SCM_RIGHTS.
package final class MessageSocket: Sendable {
    /// A message and the descriptors that came with it, which the receiver must close.
    package struct Message: Sendable {
        package let bytes: [UInt8]
        package let descriptors: [CInt]
    }

    package let descriptor: CInt

    /// Adopts an open socket, such as the one a child inherits.
    package init(adopting descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Two connected ends, both closed on exec.
    package static func pair() throws(SystemError) -> (MessageSocket, MessageSocket) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(bitPattern: SOCK_SEQPACKET.rawValue) | CInt(bitPattern: SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("socketpair") }
        return (MessageSocket(adopting: ends[0]), MessageSocket(adopting: ends[1]))
    }

    /// Sends one message; the descriptors are duplicated for the receiver.
    ///
    /// - Parameter waits: whether it waits for room, however long the other end takes.
    /// - Throws: EAGAIN when there is no room and it does not wait.
    package func send(_ bytes: [UInt8], descriptors: [CInt] = [], waits: Bool = true) throws(SystemError) {
        precondition(descriptors.count <= CLinux_descriptors_max, "a message carries at most four descriptors")
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            unsafe CLinux_sendmsg(
                descriptor, buffer.baseAddress, buffer.count, descriptors, CInt(descriptors.count),
                waits ? 0 : CInt(clamping: MSG_DONTWAIT))
        }
        guard sent == bytes.count else { throw SystemError("sendmsg") }
    }

    /// Waits for one message; nil when the other end is closed.
    ///
    /// - Throws: EMSGSIZE for a longer message, or one with more descriptors than agreed.
    package func receive(bytesMax: Int) throws(SystemError) -> Message? {
        guard let length = try lengthOfNext(bytesMax: bytesMax) else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        var descriptors = [CInt](repeating: -1, count: Int(clamping: CLinux_descriptors_max))
        var count: CInt = 0
        let received = try restarting("recvmsg") {
            unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe CLinux_recvmsg(descriptor, buffer.baseAddress, buffer.count, &descriptors, &count)
            }
        }
        guard let received, received > 0 else { return nil }
        return Message(bytes: bytes, descriptors: Array(descriptors.prefix(max(0, Int(clamping: count)))))
    }

    /// As above, from an end that is not trusted: descriptors sent along are dropped by the kernel, never opened here.
    package func receiveBytes(bytesMax: Int) throws(SystemError) -> [UInt8]? {
        guard let length = try lengthOfNext(bytesMax: bytesMax) else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        let received = try restarting("recv") {
            unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        }
        guard let received, received > 0 else { return nil }
        return bytes
    }

    /// Waits for a message and measures it where it lies, so that no more memory is taken than it needs.
    private func lengthOfNext(bytesMax: Int) throws(SystemError) -> Int? {
        let length = try restarting("recvmsg") { CLinux_recvmsg_length(descriptor) }
        guard let length, length > 0 else { return nil }
        guard length <= bytesMax else { throw SystemError("recvmsg", code: EMSGSIZE) }
        return length
    }

    /// Nil when the other end ended without reading what was sent to it.
    private func restarting(_ call: String, _ body: () -> Int) throws(SystemError) -> Int? {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno == ECONNRESET { return nil }
            guard errno == EINTR else { throw SystemError(call) }
        }
    }

    /// Waits until a message or the end can be received; false when the deadline came first.
    package func waitUntilReadable(deadline: ContinuousClock.Instant) throws(SystemError) -> Bool {
        try !Readiness.wait(for: [descriptor], deadline: deadline).isEmpty
    }

    /// Whether a message or the end can be received now.
    package func isReadable() throws(SystemError) -> Bool {
        try !Readiness.wait(for: [descriptor], deadline: .now).isEmpty
    }
}
