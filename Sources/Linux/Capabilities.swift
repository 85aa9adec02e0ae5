import CLinux
import Glibc

/// What root may do beyond other users, in parts. Linux: `capabilities(7)`.
package enum Capabilities {
    /// Gives up all of them, for this thread and those it starts, and for whatever it might execute.
    ///
    /// The bounding set can only be emptied by a process that has CAP_SETPCAP, as root does. One that has none may keep
    /// it: together with `ProcessFlags.refuseNewPrivileges` it leads to nothing.
    package static func dropAll() throws(SystemError) {
        for number in 0..<numbersMax where CLinux_prctl_capbset_drop(number) != 0 {
            // Past the last one that the kernel knows.
            if errno == EINVAL { break }
            guard errno == EPERM else { throw SystemError("prctl") }
        }
        // Without the right to it, or on a kernel without it; what counts is looked at below.
        _ = CLinux_prctl_lock_securebits()
        _ = CLinux_prctl_clear_ambient()
        guard CLinux_capset_none() == 0 else { throw SystemError("capset") }
        guard !hasAny else { throw SystemError("capset", code: EPERM) }
    }

    /// Whether this thread has any capability: effective, permitted or inheritable.
    package static var hasAny: Bool { CLinux_capget_any() != 0 }

    /// Whether a program that it executes could have one.
    package static var hasBounding: Bool { (0..<numbersMax).contains { CLinux_prctl_capbset_read($0) == 1 } }

    /// Linux 6 has 41; the sets have 64 bits.
    private static let numbersMax: UInt = 64
}
