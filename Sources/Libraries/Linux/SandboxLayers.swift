import CLinux
import Glibc

/// Restricts access to files, the network and other processes.
///
/// Linux: `landlock(7)`. It applies to the calling thread and threads it starts, needs no privilege and is permanent.
package enum Landlock {
    /// The ABI version of the kernel, 1 or more; nil without Landlock (before Linux 5.13, or disabled).
    package static var version: Int? {
        let version = CLinux_landlock_version()
        return version > 0 ? Int(version) : nil
    }

    /// Removes all rights that this kernel can restrict: files, TCP ports, and abstract sockets and signals of other
    /// processes. Open descriptors stay usable. Call `ProcessFlags.preventNewPrivileges` first.
    package static func denyEverything() throws(SystemError) {
        guard let version else { throw SystemError("landlock_create_ruleset") }
        var rules = rules(version: version)
        let ruleset = unsafe CLinux_landlock_create_ruleset(&rules, length(version: version))
        guard ruleset >= 0 else { throw SystemError("landlock_create_ruleset") }
        defer { close(ruleset) }
        guard CLinux_landlock_restrict_self(ruleset) == 0 else { throw SystemError("landlock_restrict_self") }
    }

    /// Rights are numbered in the order in which ABI versions added them: 13 in version 1, then moving between folders
    /// (2), truncation (3) and device control (5).
    private static func rules(version: Int) -> CLinux_landlock_ruleset {
        let fileRights: UInt64 = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13
        var rules = CLinux_landlock_ruleset()
        rules.files = 1 << fileRights - 1
        // Binding and connecting TCP.
        rules.network = version >= 4 ? 0b11 : 0
        // Abstract sockets and signals outside the sandbox.
        rules.scoped = version >= 6 ? 0b11 : 0
        return rules
    }

    /// The size of the structure in that version. Kernels accept a longer one only if its unknown fields are zero.
    private static func length(version: Int) -> Int {
        MemoryLayout<UInt64>.size * (version >= 6 ? 3 : version >= 4 ? 2 : 1)
    }
}

/// The capabilities of the process. Linux: `capabilities(7)`.
package enum Capabilities {
    /// Drops all capabilities for this thread, threads it starts, and programs it executes.
    ///
    /// Emptying the bounding set requires CAP_SETPCAP, which root has. A process without it keeps the set, which has no
    /// effect after `ProcessFlags.preventNewPrivileges`.
    package static func dropAll() throws(SystemError) {
        for number in 0..<numbersMax where CLinux_prctl_capbset_drop(number) != 0 {
            // EINVAL: above the last capability of this kernel.
            if errno == EINVAL { break }
            guard errno == EPERM else { throw SystemError("prctl") }
        }
        // These may fail without permission or on older kernels; `hasAny` checks the result below.
        _ = CLinux_prctl_lock_securebits()
        _ = CLinux_prctl_clear_ambient()
        guard CLinux_capset_none() == 0 else { throw SystemError("capset") }
        guard !hasAny else { throw SystemError("capset", code: EPERM) }
    }

    /// Whether this thread has any capability: effective, permitted or inheritable.
    package static var hasAny: Bool { CLinux_capget_any() != 0 }

    /// Whether the bounding set is not empty, so that an executed program could gain a capability.
    package static var hasBounding: Bool { (0..<numbersMax).contains { CLinux_prctl_capbset_read($0) == 1 } }

    /// The size of capability sets in bits; Linux 6 uses 41.
    private static let numbersMax: UInt = 64
}

/// Flags with which a process restricts itself. Linux: `prctl(2)`.
package enum ProcessFlags {
    /// Prevents executed programs from gaining privileges, as by a set-user-ID bit; required by Landlock and seccomp.
    package static func preventNewPrivileges() throws(SystemError) {
        guard CLinux_prctl_no_new_privileges() == 0 else { throw SystemError("prctl") }
    }

    package static var preventsNewPrivileges: Bool { CLinux_prctl_has_no_new_privileges() == 1 }

    /// Disables core dumps and access to the memory of this process by other processes of the same user.
    package static func disableDumps() throws(SystemError) {
        guard CLinux_prctl_not_dumpable() == 0 else { throw SystemError("prctl") }
    }

    package static var areDumpsDisabled: Bool { CLinux_prctl_is_dumpable() == 0 }

    /// The umask; nil if `/proc` does not contain it. umask(2) can only read it by setting another.
    package static var umask: UInt32? {
        guard let file = unsafe fopen("/proc/self/status", "re") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("Umask:") else { continue }
            return UInt32(text.dropFirst(6).filter(\.isNumber), radix: 8)
        }
        return nil
    }

    /// The number of threads of this process; nil without `/proc`.
    package static var threadCount: Int? {
        guard let folder = unsafe opendir("/proc/self/task") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            // Skips "." and "..".
            if unsafe entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }

    /// Makes the kernel kill this process when the thread that started it ends.
    package static func dieWithParent() throws(SystemError) {
        guard CLinux_prctl_die_with_parent() == 0 else { throw SystemError("prctl") }
    }
}

/// A resource limit of the process. Linux: `setrlimit(2)`.
package enum ResourceLimit: Sendable {
    /// Bytes of address space; larger allocations fail.
    case addressSpace
    /// Bytes of each file that the process writes.
    case fileSize
    /// One more than the highest descriptor that can be opened.
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

    /// Sets the soft and hard limit; an unprivileged process cannot raise it again.
    package func set(_ value: Int) throws(SystemError) {
        guard CLinux_setrlimit(number, UInt64(value), UInt64(value)) == 0 else { throw SystemError("setrlimit") }
    }

    /// The soft limit; nil if unlimited.
    package var current: Int? { Int(exactly: CLinux_getrlimit(number)) }
}
