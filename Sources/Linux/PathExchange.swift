import CLinux
import Glibc

/// Renames that are one step for every reader, where the file system can do that.
///
/// Linux: `renameat2(2)`. Network and shared file systems (NFS, 9p, CIFS) answer EINVAL to its flags; there plain
/// renames do it in steps.
package enum PathExchange {
    /// Gives `path` its final name; false when something stands there already.
    package static func renameToNew(_ path: String, _ final: String) throws(SystemError) -> Bool {
        if unsafe CLinux_renameat2_new(path, final) == 0 { return true }
        if isUnsupported(errno) { return try renamePlainly(path, final) }
        guard errno == EEXIST || errno == ENOTEMPTY else { throw SystemError("renameat2") }
        return false
    }

    /// Two paths change places.
    package static func exchange(_ one: String, _ other: String) throws(SystemError) {
        if unsafe CLinux_renameat2_exchange(one, other) == 0 { return }
        guard isUnsupported(errno) else { throw SystemError("renameat2") }
        try exchangeInSteps(one, other)
    }

    private static func isUnsupported(_ code: CInt) -> Bool { code == EINVAL || code == ENOSYS }

    /// As `renameToNew`, with a look first: another process may come between the two.
    package static func renamePlainly(_ path: String, _ final: String) throws(SystemError) -> Bool {
        if unsafe access(final, F_OK) == 0 { return false }
        try rename(path, final)
        return true
    }

    /// As `exchange`; for a moment `other` is not there.
    package static func exchangeInSteps(_ one: String, _ other: String) throws(SystemError) {
        let aside = one + ".aside"
        try rename(other, aside)
        try rename(one, other)
        try rename(aside, one)
    }

    private static func rename(_ from: String, _ to: String) throws(SystemError) {
        guard unsafe Glibc.rename(from, to) == 0 else { throw SystemError("rename") }
    }
}
