internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Where the log goes: whole lines, one after the other, whichever thread they come from.
final class LogOutput: Sendable {
    private let descriptor: CInt
    private let turn = Mutex(())

    /// - Parameter descriptor: borrowed.
    init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Standard error.
    static let standardError = LogOutput(STDERR_FILENO)

    /// A line that cannot be written is lost: there is nowhere to say so.
    func write(_ line: String) {
        let bytes = Array(line.utf8)
        turn.withLock { _ in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}

/// `write`, which is another name's method above.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
