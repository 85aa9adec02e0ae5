import CLinux
import Glibc
import Synchronization

/// Records a crash of this process in a file: the handler of fault signals overwrites the first line of the file.
///
/// The file is not changed by signals from other processes, SIGKILL, the kernel's out-of-memory killer or a power loss,
/// nor by a stack overflow on a thread without an alternate signal stack.
///
/// Linux: `sigaction(2)`, `pwrite(2)`.
package final class CrashMark: Sendable {
    /// The first line while the process runs; as long as the other two.
    package static let running = "running         \n"
    /// The first line after a normal end.
    package static let ended = "ended           \n"
    /// The start of the first line after a crash; the signal number in two digits follows.
    package static let crashed = "crashed "

    /// The file that this process marks; -1 for none.
    private static let current = Mutex<CInt>(-1)

    private let descriptor: CInt

    /// Installs the signal handlers; a later mark replaces an earlier one.
    ///
    /// - Parameter descriptor: Open for writing; owned by this object, and closed by `end`.
    package init(descriptor: CInt) throws(SystemError) {
        self.descriptor = descriptor
        let code = Self.current.withLock { current in
            current = descriptor
            return CLinux_crash_mark(descriptor) == 0 ? 0 : errno
        }
        guard code == 0 else { throw SystemError("sigaction", code: code) }
    }

    /// Stops marking the file and closes it.
    package func end() {
        Self.current.withLock { current in
            guard current == descriptor else { return }
            _ = CLinux_crash_mark(-1)
            current = -1
        }
        close(descriptor)
    }
}
