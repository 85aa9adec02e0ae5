import Foundation
import Glibc

/// A client socket for slow, silent or invalid requests. Blocking calls run on their own threads.
public final class RawConnection: Sendable {
    private let descriptor: CInt
    /// The timeout of each call, so that a hanging test fails.
    private static let seconds = 30

    public struct SocketError: Error {
        let operation: String
        let number: CInt

        public init(operation: String, number: CInt) {
            (self.operation, self.number) = (operation, number)
        }
    }

    /// - Parameter receiveBuffer: bytes the kernel keeps for a client that does not read.
    public init(port: Int, receiveBuffer: CInt? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: Self.seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<CInt>.size))
        }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(UInt16(port)).bigEndian
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw SocketError(operation: "connect", number: errno) }
    }

    deinit {
        close(descriptor)
    }

    public func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    /// - Throws: when the server has closed the connection.
    public func send(_ bytes: [UInt8]) async throws {
        let descriptor = descriptor
        try await Self.blocking {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw SocketError(operation: "send", number: errno) }
                sent += count
            }
        }
    }

    /// Sends without blocking and ignores errors: the server may have closed the connection.
    public func offer(_ text: String) {
        _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    /// Ends the sending direction.
    public func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The next received bytes; empty at the end of the connection or after a reset.
    public func receive() async -> [UInt8] {
        let descriptor = descriptor
        return
            (try? await Self.blocking {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                return count > 0 ? Array(buffer[..<count]) : []
            }) ?? []
    }

    public func receiveAll() async -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = await receive()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Receives until a text has arrived or the connection ends; returns everything that arrived.
    public func receive(until text: String) async -> String {
        var all: [UInt8] = []
        while true {
            let piece = await receive()
            all += piece
            let received = String(decoding: all, as: UTF8.self)
            if piece.isEmpty || received.contains(text) { return received }
        }
    }

    private static func blocking<Result: Sendable>(
        _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread { continuation.resume(with: Swift.Result { try work() }) }
            thread.start()
        }
    }
}

/// Raises the limit of open files to its maximum: for tests of many connections.
public func raiseOpenFileLimit() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
