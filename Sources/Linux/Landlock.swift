import CLinux
import Glibc

/// The kernel's wall around files, the network and other processes, which a process builds around itself.
///
/// Linux: `landlock(7)`. It holds for the calling thread and those it starts, needs no privilege and cannot be undone.
package enum Landlock {
    /// The version the kernel speaks, 1 or more; nil where it was built or started without Landlock (before 5.13).
    package static var version: Int? {
        let version = CLinux_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// Takes away every right over files, TCP ports and processes outside that this kernel can take; descriptors that
    /// are open stay usable. `ProcessWalls.refuseNewPrivileges` comes first.
    package static func denyEverything() throws(SystemError) {
        guard let version else { throw SystemError("landlock_create_ruleset") }
        var rules = rules(version: version)
        let ruleset = unsafe CLinux_landlock_create_ruleset(&rules, length(version: version))
        guard ruleset >= 0 else { throw SystemError("landlock_create_ruleset") }
        defer { close(ruleset) }
        guard CLinux_landlock_restrict_self(ruleset) == 0 else { throw SystemError("landlock_restrict_self") }
    }

    /// Rights are numbered in the order in which kernels learnt them: 13 with version 1, then moving between folders
    /// (2), truncation (3) and device control (5).
    private static func rules(version: Int) -> CLinux_landlock_ruleset {
        let fileRights: UInt64 = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13
        var rules = CLinux_landlock_ruleset()
        rules.files = 1 << fileRights - 1
        // Binding and connecting TCP.
        rules.network = version >= 4 ? 0b11 : 0
        // Abstract sockets and signals of processes outside.
        rules.scoped = version >= 6 ? 0b11 : 0
        return rules
    }

    /// Older kernels take a longer structure only when what they do not know is zero; its length says which is meant.
    private static func length(version: Int) -> Int {
        MemoryLayout<UInt64>.size * (version >= 6 ? 3 : version >= 4 ? 2 : 1)
    }
}
