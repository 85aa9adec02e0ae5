import Foundation
import Glibc

/// Owns one socket and closes it with the last reference.
final class LoopbackSocket: Sendable {
    struct SocketError: Error {
        let operation: String
        let number: Int32
    }

    private let descriptor: CInt

    private init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// A port that is free at the moment.
    static func freePort() throws -> Int {
        try listen(address: "127.0.0.1", port: 0).localPort()
    }

    /// Whether a server listens on a port.
    static func accepts(_ address: String, port: Int) -> Bool {
        let client = LoopbackSocket(stream())
        var name = socketAddress(address, port)
        return withSocketAddress(&name) { connect(client.descriptor, $0, $1) } == 0
    }

    /// A connection to a server on this machine.
    static func connected(to port: Int) throws -> LoopbackSocket {
        let client = LoopbackSocket(stream())
        var name = socketAddress("127.0.0.1", port)
        guard withSocketAddress(&name, { connect(client.descriptor, $0, $1) }) == 0 else {
            throw SocketError(operation: "connect to port \(port)", number: errno)
        }
        return client
    }

    static func listen(address: String, port: Int) throws -> LoopbackSocket {
        let listener = LoopbackSocket(stream())
        var yes: Int32 = 1
        setsockopt(listener.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var name = socketAddress(address, port)
        let bound = withSocketAddress(&name) { bind(listener.descriptor, $0, $1) }
        guard bound == 0 else { throw SocketError(operation: "bind \(address):\(port)", number: errno) }
        guard Glibc.listen(listener.descriptor, 128) == 0 else { throw SocketError(operation: "listen", number: errno) }
        return listener
    }

    /// The port that the system chose.
    func localPort() throws -> Int {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = Self.withSocketAddress(&name) { address, _ in getsockname(descriptor, address, &length) }
        guard status == 0 else { throw SocketError(operation: "getsockname", number: errno) }
        return Int(UInt16(bigEndian: name.sin_port))
    }

    /// Blocks until the next connection; nil when the socket was shut down.
    func accept() -> LoopbackSocket? {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return LoopbackSocket(accepted)
    }

    /// Blocks until bytes arrive; nil at the end of the connection.
    func receive() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : nil
    }

    /// Sends everything; false when the peer has disconnected.
    func send(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes -> Bool in
            var sent = 0
            while sent < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent..<bytes.count])
                let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// Whether the peer has disconnected.
    var isClosed: Bool { poll(milliseconds: 0) }

    /// Whether the peer disconnects within `milliseconds`.
    func isClosed(within milliseconds: Int32) -> Bool { poll(milliseconds: milliseconds) }

    func waitUntilClosed() {
        while !poll(milliseconds: -1) {}
    }

    /// Ends both directions; blocked calls on the socket return.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Makes the close a reset: data in transit is lost.
    func resetOnClose() {
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    }

    private func poll(milliseconds: Int32) -> Bool {
        let gone = Int16(POLLHUP) | Int16(POLLERR) | Int16(0x2000)  // POLLRDHUP, which Swift does not import
        var entry = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        return Glibc.poll(&entry, 1, milliseconds) > 0 && entry.revents & gone != 0
    }

    private static func stream() -> CInt {
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func socketAddress(_ address: String, _ port: Int) -> sockaddr_in {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(UInt16(port).bigEndian)
        name.sin_addr.s_addr = inet_addr(address)
        return name
    }

    private static func withSocketAddress<Result>(
        _ name: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
