import CLinux
import Glibc
import SafeArithmetic
import Synchronization

/// One end of a connected socket pair that transfers whole messages with attached descriptors.
///
/// Owns its descriptor. Linux: `socketpair(2)` with SOCK_SEQPACKET, `unix(7)` for SCM_RIGHTS.
package final class MessageSocket: Sendable {
    /// A message and its attached descriptors, which the receiver must close.
    package struct Message: Sendable {
        package let bytes: [UInt8]
        package let descriptors: [CInt]
    }

    package let descriptor: CInt

    /// Takes ownership of an open socket, such as one that a child inherited.
    package init(adopting descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Creates two connected sockets, both closed on exec.
    package static func pair() throws(SystemError) -> (MessageSocket, MessageSocket) {
        var ends: [CInt] = [-1, -1]
        let kind = CInt(bitPattern: SOCK_SEQPACKET.rawValue) | CInt(bitPattern: SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("socketpair") }
        return (MessageSocket(adopting: ends[0]), MessageSocket(adopting: ends[1]))
    }

    /// Sends one message; the descriptors are duplicated for the receiver.
    ///
    /// - Parameter waits: Whether to wait, without a time limit, until the socket buffer has space.
    /// - Throws: EAGAIN when the buffer is full and `waits` is false.
    package func send(_ bytes: [UInt8], descriptors: [CInt] = [], waits: Bool = true) throws(SystemError) {
        precondition(descriptors.count <= CLinux_descriptors_max, "a message carries at most 24 descriptors")
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            unsafe CLinux_sendmsg(
                descriptor, buffer.baseAddress, buffer.count, descriptors, CInt(descriptors.count),
                waits ? 0 : CInt(clamping: MSG_DONTWAIT))
        }
        guard sent == bytes.count else { throw SystemError("sendmsg") }
    }

    /// Waits for one message; nil when the other end is closed.
    ///
    /// - Throws: EMSGSIZE for a message above `bytesMax` or with more than 24 descriptors.
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

    /// Waits for one message from an untrusted process; nil when the other end is closed.
    ///
    /// The kernel discards attached descriptors, so that none is opened in this process.
    /// - Throws: EMSGSIZE for a message above `bytesMax`.
    package func receiveBytes(bytesMax: Int) throws(SystemError) -> [UInt8]? {
        guard let length = try lengthOfNext(bytesMax: bytesMax) else { return nil }
        var bytes = [UInt8](repeating: 0, count: length)
        let received = try restarting("recv") {
            unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        }
        guard let received, received > 0 else { return nil }
        return bytes
    }

    /// Waits for a message and returns its length without receiving it, so that the buffer is no larger than needed.
    private func lengthOfNext(bytesMax: Int) throws(SystemError) -> Int? {
        let length = try restarting("recvmsg") { CLinux_recvmsg_length(descriptor) }
        guard let length, length > 0 else { return nil }
        guard length <= bytesMax else { throw SystemError("recvmsg", code: EMSGSIZE) }
        return length
    }

    /// Repeats a call that a signal interrupted; nil when the other end closed without reading all it was sent.
    private func restarting(_ call: String, _ body: () -> Int) throws(SystemError) -> Int? {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno == ECONNRESET { return nil }
            guard errno == EINTR else { throw SystemError(call) }
        }
    }

    /// Waits until a message or the end can be received; false when the deadline passes first.
    package func waitUntilReadable(deadline: ContinuousClock.Instant) throws(SystemError) -> Bool {
        try !Readiness.wait(for: [descriptor], deadline: deadline).isEmpty
    }

    /// Whether a message or the end can be received now.
    package func isReadable() throws(SystemError) -> Bool {
        try !Readiness.wait(for: [descriptor], deadline: .now).isEmpty
    }
}

/// A pipe over which one process sends single bytes as signals to another, which is also notified of the end.
///
/// Owns both ends. Linux: `pipe2(2)`.
package final class BytePipe: Sendable {
    /// The end for the waiting process; reading it blocks.
    package let readEnd: CInt
    private let writeEnd: Mutex<CInt?>

    package init() throws(SystemError) {
        var ends: [CInt] = [-1, -1]
        guard unsafe CLinux_pipe(&ends) == 0 else { throw SystemError("pipe2") }
        readEnd = ends[0]
        writeEnd = Mutex(ends[1])
        guard fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0 else { throw SystemError("fcntl") }
    }

    deinit {
        closeWriteEnd()
        close(readEnd)
    }

    /// Sends a byte without blocking; it is dropped when the pipe is full, since the reader is then notified already.
    package func send(_ byte: UInt8) {
        writeEnd.withLock { end in
            guard let end else { return }
            var byte = byte
            _ = unsafe write(end, &byte, 1)
        }
    }

    /// Closes the write end, which the reader receives as the end.
    package func closeWriteEnd() {
        writeEnd.withLock { end in
            if let open = end { close(open) }
            end = nil
        }
    }
}

/// Waits for descriptors on a thread that may block. Linux: `poll(2)`.
package enum Readiness {
    /// The descriptors that have data or the end to read; empty when the deadline passes first.
    ///
    /// - Parameters:
    ///   - writable: A descriptor that is also waited for, until it can be written to.
    ///   - deadline: Nil waits without a time limit; one in the past checks once.
    package static func wait(
        for descriptors: [CInt], writable: CInt? = nil, deadline: ContinuousClock.Instant?
    ) throws(SystemError) -> [CInt] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(clamping: POLLIN), revents: 0) }
        if let writable { entries.append(pollfd(fd: writable, events: Int16(clamping: POLLOUT), revents: 0)) }
        while true {
            let milliseconds = deadline.map(Self.milliseconds) ?? -1
            let ready = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
            if ready > 0 { return entries.filter { $0.revents != 0 }.map(\.fd) }
            guard ready == 0 || errno == EINTR else { throw SystemError("poll") }
            if ready == 0, let deadline, deadline <= .now { return [] }
        }
    }

    /// The milliseconds left, rounded up so that the deadline has passed after the wait; at most an hour, after which
    /// `wait` polls again.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> CInt {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        let seconds = CInt(clamping: min(left.components.seconds, 3_600))
        // Bounded: an hour, and less than a second.
        return seconds * 1000 + CInt(clamping: left.components.attoseconds / 1_000_000_000_000_000) + 1
    }
}
