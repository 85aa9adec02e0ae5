import Foundation

/// Our end of the socket to a browser: messages that end with a zero byte, in both directions.
final class BrowserSocket: Sendable {
    private let descriptor: CInt
    /// A message is written whole before the next one begins.
    private let writing = NSLock()

    private init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Makes both ends and hands the far one to whoever starts the browser; it is closed here after that.
    static func connected<Started>(_ start: (CInt) throws -> Started) throws -> (BrowserSocket, Started) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw BrowserFailure(description: "there is no socket for the browser: \(String(cString: strerror(errno)))")
        }
        let near = BrowserSocket(ends[0])
        let far = fcntl(ends[1], F_DUPFD_CLOEXEC, 32)
        close(ends[1])
        guard far >= 0 else {
            throw BrowserFailure(description: "there is no socket for the browser: \(String(cString: strerror(errno)))")
        }
        defer { close(far) }
        return (near, try start(far))
    }

    /// Sends a message; one to a browser that has gone is dropped, since whoever waits hears of that end.
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

    /// Hands over one message after the other until the browser has gone; blocks its thread.
    func readMessages(_ take: (Data) -> Void) {
        var rest = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            var start = 0
            for end in 0..<count where buffer[end] == 0 {
                take(rest + buffer[start..<end])
                rest = Data()
                start = end + 1
            }
            rest.append(contentsOf: buffer[start..<count])
        }
    }

    /// Ends the reading and, since Chromium ends with its last listener, the browser.
    func shutDown() {
        shutdown(descriptor, CInt(SHUT_RDWR))
    }
}
