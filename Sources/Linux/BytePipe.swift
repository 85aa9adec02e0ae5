import CLinux
import Glibc
import Synchronization

/// Bytes said by one process and waited for by another, which hears the end when nobody will say more.
///
/// Owns both ends. Linux: `pipe2(2)`.
package final class BytePipe: Sendable {
    /// For who waits; a read of it blocks.
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
        hangUp()
        close(readEnd)
    }

    /// Never blocks: who has thousands of bytes to read yet needs no more.
    package func say(_ byte: UInt8) {
        writeEnd.withLock { end in
            guard let end else { return }
            var byte = byte
            _ = unsafe write(end, &byte, 1)
        }
    }

    /// Says no more.
    package func hangUp() {
        writeEnd.withLock { end in
            if let open = end { close(open) }
            end = nil
        }
    }
}
