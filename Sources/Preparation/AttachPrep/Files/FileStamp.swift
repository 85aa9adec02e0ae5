import Glibc

/// Inode, size and modification time of a file: differs when the file was replaced or changed.
package struct FileStamp: Sendable, Hashable {
    private let node: UInt64
    private let bytes: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil when there is no such file.
    package init?(_ path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        node = UInt64(facts.st_ino)
        bytes = Int64(facts.st_size)
        (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
    }
}
