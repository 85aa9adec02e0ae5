import CLinux
import Glibc

/// Rights that a process gives up for itself. Linux: `prctl(2)`.
package enum ProcessFlags {
    /// Nothing it executes gains rights by a set-user-ID bit or the like; Landlock and seccomp ask for it.
    package static func refuseNewPrivileges() throws(SystemError) {
        guard CLinux_prctl_no_new_privileges() == 0 else { throw SystemError("prctl") }
    }

    package static var refusesNewPrivileges: Bool { CLinux_prctl_has_no_new_privileges() == 1 }

    /// No core dump, and no process of the same user may look into its memory.
    package static func refuseDumps() throws(SystemError) {
        guard CLinux_prctl_not_dumpable() == 0 else { throw SystemError("prctl") }
    }

    package static var refusesDumps: Bool { CLinux_prctl_is_dumpable() == 0 }

    /// Asks the kernel to kill this process when the thread that started it ends.
    package static func dieWithParent() throws(SystemError) {
        guard CLinux_prctl_die_with_parent() == 0 else { throw SystemError("prctl") }
    }
}
