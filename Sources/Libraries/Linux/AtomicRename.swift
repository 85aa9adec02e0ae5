import CLinux
import Glibc

/// Renames that are atomic where the file system supports it.
///
/// Linux: `renameat2(2)`. Network and shared file systems (NFS, 9p, CIFS) fail with EINVAL for its flags; several
/// plain renames are used there.
package enum AtomicRename {
    /// Renames `path` to `final`; false when `final` exists already.
    package static func renameToNew(_ path: String, final: String) throws(SystemError) -> Bool {
        if unsafe CLinux_renameat2_new(path, final) == 0 { return true }
        if isUnsupported(errno) { return try renamePlainly(path, final: final) }
        guard errno == EEXIST || errno == ENOTEMPTY else { throw SystemError("renameat2") }
        return false
    }

    /// Exchanges two paths.
    package static func exchange(_ one: String, _ other: String) throws(SystemError) {
        if unsafe CLinux_renameat2_exchange(one, other) == 0 { return }
        guard isUnsupported(errno) else { throw SystemError("renameat2") }
        try exchangeInSteps(one, other)
    }

    private static func isUnsupported(_ code: CInt) -> Bool { code == EINVAL || code == ENOSYS }

    /// The fallback of `renameToNew`: checks first, then renames. Not atomic; another process may create `final` in
    /// between.
    package static func renamePlainly(_ path: String, final: String) throws(SystemError) -> Bool {
        if unsafe access(final, F_OK) == 0 { return false }
        try rename(path, to: final)
        return true
    }

    /// The fallback of `exchange`. Not atomic; `other` is missing for a moment.
    package static func exchangeInSteps(_ one: String, _ other: String) throws(SystemError) {
        let aside = one + ".aside"
        try rename(other, to: aside)
        try rename(one, to: other)
        try rename(aside, to: one)
    }

    private static func rename(_ from: String, to: String) throws(SystemError) {
        guard unsafe Glibc.rename(from, to) == 0 else { throw SystemError("rename") }
    }
}
