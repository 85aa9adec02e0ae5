import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The owner of one socket; closed when the last holder lets go.
final class LoopbackSocket: Sendable {
    struct Failure: Error {
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

    /// A port nobody listens on at the moment.
    static func freePort() throws -> Int {
        try listen(address: "127.0.0.1", port: 0).localPort()
    }

    /// Whether somebody listens on a port.
    static func accepts(_ address: String, port: Int) -> Bool {
        let caller = LoopbackSocket(stream())
        var name = socketAddress(address, port)
        return withSocketAddress(&name) { connect(caller.descriptor, $0, $1) } == 0
    }

    /// A connection to somebody who listens on this machine.
    static func connected(to port: Int) throws -> LoopbackSocket {
        let caller = LoopbackSocket(stream())
        var name = socketAddress("127.0.0.1", port)
        guard withSocketAddress(&name, { connect(caller.descriptor, $0, $1) }) == 0 else {
            throw Failure(operation: "connect to port \(port)", number: errno)
        }
        return caller
    }

    static func listen(address: String, port: Int) throws -> LoopbackSocket {
        let listener = LoopbackSocket(stream())
        var yes: Int32 = 1
        setsockopt(listener.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var name = socketAddress(address, port)
        let bound = withSocketAddress(&name) { bind(listener.descriptor, $0, $1) }
        guard bound == 0 else { throw Failure(operation: "bind \(address):\(port)", number: errno) }
        guard Glibc.listen(listener.descriptor, 128) == 0 else { throw Failure(operation: "listen", number: errno) }
        return listener
    }

    /// The port the system chose.
    func localPort() throws -> Int {
        var name = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = Self.withSocketAddress(&name) { address, _ in getsockname(descriptor, address, &length) }
        guard status == 0 else { throw Failure(operation: "getsockname", number: errno) }
        return Int(UInt16(bigEndian: name.sin_port))
    }

    /// Blocks for the next connection; nil when the socket was shut down.
    func accept() -> LoopbackSocket? {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { return nil }
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return LoopbackSocket(accepted)
    }

    /// Blocks for bytes; nil when there will be none.
    func receive() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Data(buffer[..<count]) : nil
    }

    /// Sends everything; false when the other side has gone.
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

    /// Whether the other side has gone.
    var isClosed: Bool { poll(milliseconds: 0) }

    /// Whether the other side goes before so many milliseconds are over.
    func isClosed(within milliseconds: Int32) -> Bool { poll(milliseconds: milliseconds) }

    func waitUntilClosed() {
        while !poll(milliseconds: -1) {}
    }

    /// Ends both directions; whoever blocks on the socket returns.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Makes the close a reset: what is still under way is lost.
    func resetOnClose() {
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    }

    private func poll(milliseconds: Int32) -> Bool {
        let gone = Int16(POLLHUP) | Int16(POLLERR) | Int16(0x2000)  // POLLRDHUP, which Swift does not see
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
