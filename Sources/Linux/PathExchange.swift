import CLinux
import Glibc

/// Renames that are one step for every reader.
///
/// Linux: `renameat2(2)`.
package enum PathExchange {
    /// Gives `path` its final name; false when something stands there already.
    package static func renameToNew(_ path: String, _ final: String) throws(SystemError) -> Bool {
        if unsafe CLinux_renameat2_new(path, final) == 0 { return true }
        guard errno == EEXIST || errno == ENOTEMPTY else { throw SystemError("renameat2") }
        return false
    }

    /// Two paths change places.
    package static func exchange(_ one: String, _ other: String) throws(SystemError) {
        guard unsafe CLinux_renameat2_exchange(one, other) == 0 else { throw SystemError("renameat2") }
    }
}
