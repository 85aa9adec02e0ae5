import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A socket to do with as one likes: to be slow, silent or rude. What blocks is done on threads of its own.
public final class RawConnection: Sendable {
    private let descriptor: CInt
    /// A test that hangs is a failed one.
    private static let seconds = 30

    public struct Failure: Error {
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
        guard status == 0 else { throw Failure(operation: "connect", number: errno) }
    }

    deinit {
        close(descriptor)
    }

    public func send(_ text: String) async throws {
        try await send(Array(text.utf8))
    }

    /// - Throws: when the other side has closed.
    public func send(_ bytes: [UInt8]) async throws {
        let descriptor = descriptor
        try await Self.blocking {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw Failure(operation: "send", number: errno) }
                sent += count
            }
        }
    }

    /// Sends what the kernel takes at once, to whom may have closed already.
    public func offer(_ text: String) {
        _ = Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }

    /// Says that nothing more will be sent.
    public func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// What has come; empty at the end, or when the other side broke off.
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

    /// Waits until a text has come; what came until then.
    public func receive(until text: String) async -> String {
        var all: [UInt8] = []
        while true {
            let piece = await receive()
            all += piece
            let said = String(decoding: all, as: UTF8.self)
            if piece.isEmpty || said.contains(text) { return said }
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

/// As many open files as this process may have: for tests of more connections than most have.
public func raiseOpenFiles() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
