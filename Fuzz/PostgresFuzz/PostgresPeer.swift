import Foundation
import FuzzSupport

/// A PostgreSQL server on loopback whose answers come from a `PostgresScript`; one thread serves one connection after
/// the other.
final class PostgresPeer: @unchecked Sendable {
    let port: UInt16
    private let listener: CInt
    private let condition = NSCondition()
    // Guarded by `condition`.
    private var script: PostgresScript?
    private var current: CInt?

    init() {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isOpen = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                return bind(listener, name, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        precondition(isOpen, "A loopback port must be available.")
        port = UInt16(bigEndian: address.sin_port)
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { [self] in
            while true { serve(accept(listener, nil, nil)) }
        }
    }

    func begin(_ script: PostgresScript) {
        condition.withLock { self.script = script }
    }

    /// Ends the connection; returns when it is closed.
    func end() {
        condition.withLock {
            script = nil
            if let current { shutdown(current, Int32(SHUT_RDWR)) }
            while current != nil { condition.wait() }
        }
    }

    private func serve(_ descriptor: CInt) {
        guard descriptor >= 0 else { return }
        let script = condition.withLock {
            current = descriptor
            return self.script
        }
        if let script { converse(descriptor, script) }
        condition.withLock {
            // A reset: sockets in TIME_WAIT would use up all ports within an hour.
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            close(descriptor)
            current = nil
            condition.broadcast()
        }
    }

    private func converse(_ descriptor: CInt, _ script: PostgresScript) {
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
        guard read(descriptor, isTyped: false) != nil, send(descriptor, script.greeting()) else { return }
        var answers: [UInt8] = []
        while let message = read(descriptor, isTyped: true) {
            answers += script.answer(to: message)
            // A sync, a flush, a password and a simple query are waited for.
            guard "SHpQ".utf8.contains(message.kind) || script.isOver else { continue }
            guard send(descriptor, answers), !script.isOver else { return }
            answers = []
        }
    }

    private func send(_ descriptor: CInt, _ bytes: [UInt8]) -> Bool {
        Trace.show(">>> " + bytes.prefix(600).map { 0x20...0x7E ~= $0 ? String(UnicodeScalar($0)) : "." }.joined())
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The next message; nil at the end of the connection.
    private func read(_ descriptor: CInt, isTyped: Bool) -> (kind: UInt8, body: [UInt8])? {
        guard let head = read(descriptor, count: isTyped ? 5 : 4) else { return nil }
        let length = head.suffix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length >= 4, let body = read(descriptor, count: length - 4) else { return nil }
        return (isTyped ? head[0] : 0, body)
    }

    private func read(_ descriptor: CInt, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                recv(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, 0)
            }
            guard read > 0 else { return nil }
            filled += read
        }
        return bytes
    }
}
