import CLinux
import Glibc
import Synchronization

/// Proof of a crash that outlives the process: a signal for a fault of its own writes a line over the beginning of a
/// file that was opened before.
///
/// `kill` by somebody else, SIGKILL, the kernel's out-of-memory killer and a loss of power leave the file as it is. So
/// does a stack overflow on a thread without an alternate signal stack.
///
/// Linux: sigaction(2), pwrite(2).
package final class CrashMark: Sendable {
    /// What a file that may be marked begins with; as long as any mark.
    package static let running = "running         \n"
    /// What is written there at an orderly end.
    package static let ended = "ended           \n"
    /// What a mark begins with; two digits of the signal's number follow.
    package static let crashed = "crashed "

    /// The one file that this process marks.
    private static let current = Mutex<CInt>(-1)

    private let descriptor: CInt

    /// Marks this file from now on, instead of an earlier one.
    ///
    /// - Parameter descriptor: open for writing; it stays open until `end`, and belongs to this from now on.
    package init(descriptor: CInt) throws(SystemError) {
        self.descriptor = descriptor
        let code = Self.current.withLock { current in
            current = descriptor
            return CLinux_crash_mark(descriptor) == 0 ? 0 : errno
        }
        guard code == 0 else { throw SystemError("sigaction", code: code) }
    }

    /// Marks the file no more, and closes it.
    package func end() {
        Self.current.withLock { current in
            guard current == descriptor else { return }
            _ = CLinux_crash_mark(-1)
            current = -1
        }
        close(descriptor)
    }
}
