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

    /// The rights that are taken from new files; nil where `/proc` does not tell. umask(2) tells only who sets another.
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

    /// How many threads this process has; nil where `/proc` does not tell.
    package static var threadCount: Int? {
        guard let folder = unsafe opendir("/proc/self/task") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while let entry = unsafe readdir(folder) {
            // The folder itself and the one above it are no threads.
            if unsafe entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        return count
    }

    /// Asks the kernel to kill this process when the thread that started it ends.
    package static func dieWithParent() throws(SystemError) {
        guard CLinux_prctl_die_with_parent() == 0 else { throw SystemError("prctl") }
    }
}
