import CLinux
import Glibc

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
        let kind = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("socketpair") }
        return (MessageSocket(adopting: ends[0]), MessageSocket(adopting: ends[1]))
    }

    /// Sends one message; the descriptors are duplicated for the receiver.
    package func send(_ bytes: [UInt8], descriptors: [CInt] = []) throws(SystemError) {
        precondition(descriptors.count <= CLinux_descriptors_max, "a message carries at most four descriptors")
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            unsafe CLinux_sendmsg(descriptor, buffer.baseAddress, buffer.count, descriptors, CInt(descriptors.count))
        }
        guard sent == bytes.count else { throw SystemError("sendmsg") }
    }

    /// Waits for one message; nil when the other end is closed.
    package func receive(bytesMax: Int) throws(SystemError) -> Message? {
        var buffer = [UInt8](repeating: 0, count: bytesMax)
        var descriptors = [CInt](repeating: -1, count: Int(CLinux_descriptors_max))
        var count: CInt = 0
        var received = -1
        repeat {
            received = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe CLinux_recvmsg(descriptor, bytes.baseAddress, bytes.count, &descriptors, &count)
            }
        } while received < 0 && errno == EINTR
        if received < 0, errno == ECONNRESET { return nil }
        guard received >= 0 else { throw SystemError("recvmsg") }
        guard received > 0 else { return nil }
        return Message(bytes: Array(buffer.prefix(received)), descriptors: Array(descriptors.prefix(Int(count))))
    }

    /// Waits until a message or the end can be received; false when the deadline came first.
    package func waitUntilReadable(deadline: ContinuousClock.Instant) throws(SystemError) -> Bool {
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return false }
            let milliseconds =
                CInt(min(left.components.seconds, 3_600) * 1000)
                + CInt(left.components.attoseconds / 1_000_000_000_000_000) + 1
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&entry, 1, milliseconds)
            if ready > 0 { return true }
            guard ready == 0 || errno == EINTR else { throw SystemError("poll") }
        }
    }
}
