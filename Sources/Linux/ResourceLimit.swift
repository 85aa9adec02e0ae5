import CLinux
import Glibc

/// A bound that the kernel keeps for a process. Linux: `setrlimit(2)`.
package enum ResourceLimit: Sendable {
    /// Bytes of address space; what does not fit is refused as memory that is not there.
    case addressSpace
    /// Bytes of a file it writes.
    case fileSize
    /// The number above which no descriptor can be opened.
    case openFiles
    /// Bytes of a core dump.
    case coreDump

    private var number: CInt {
        switch self {
        case .addressSpace: CInt(bitPattern: RLIMIT_AS.rawValue)
        case .fileSize: CInt(bitPattern: RLIMIT_FSIZE.rawValue)
        case .openFiles: CInt(bitPattern: RLIMIT_NOFILE.rawValue)
        case .coreDump: CInt(bitPattern: RLIMIT_CORE.rawValue)
        }
    }

    /// Sets soft and hard limit of this process; an unprivileged process cannot raise it again.
    package func set(_ value: Int) throws(SystemError) {
        guard CLinux_setrlimit(number, UInt64(value), UInt64(value)) == 0 else { throw SystemError("setrlimit") }
    }

    /// The soft limit of this process; nil when there is none.
    package var current: Int? { Int(exactly: CLinux_getrlimit(number)) }
}
