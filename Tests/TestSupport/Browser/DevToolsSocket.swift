import Foundation

/// The test's end of the socket to a browser: messages that end with a zero byte, in both directions.
final class DevToolsSocket: Sendable {
    private let descriptor: CInt
    /// Keeps messages from interleaving.
    private let writing = NSLock()

    private init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Creates both ends, passes the remote one to `start`, and closes it here afterwards.
    static func connected<Started>(_ start: (CInt) throws -> Started) throws -> (DevToolsSocket, Started) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw BrowserError(description: "no socket for the browser: \(String(cString: strerror(errno)))")
        }
        let local = DevToolsSocket(ends[0])
        let remote = fcntl(ends[1], F_DUPFD_CLOEXEC, 32)
        close(ends[1])
        guard remote >= 0 else {
            throw BrowserError(description: "no socket for the browser: \(String(cString: strerror(errno)))")
        }
        defer { close(remote) }
        return (local, try start(remote))
    }

    /// Sends a message; ignored when the browser has ended, since waiting calls fail with its end.
    func send(_ message: Data) {
        let bytes = Array(message) + [0]
        writing.withLock {
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    /// Passes one message after the other to `handle` until the browser has ended; blocks its thread.
    func readMessages(_ handle: (Data) -> Void) {
        var rest = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            var start = 0
            for end in 0..<count where buffer[end] == 0 {
                handle(rest + buffer[start..<end])
                rest = Data()
                start = end + 1
            }
            rest.append(contentsOf: buffer[start..<count])
        }
    }

    /// Ends the reading and the browser, which exits when its DevTools connection closes.
    func shutDown() {
        shutdown(descriptor, CInt(SHUT_RDWR))
    }
}
