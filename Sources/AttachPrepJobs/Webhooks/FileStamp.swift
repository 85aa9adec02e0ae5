#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// What tells that a file is another one than before, or was written to.
struct FileStamp: Sendable, Hashable {
    private let node: UInt64
    private let bytes: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil when there is no such file.
    init?(_ path: String) {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return nil }
        node = UInt64(facts.st_ino)
        bytes = Int64(facts.st_size)
        #if canImport(Darwin)
            (seconds, nanoseconds) = (facts.st_mtimespec.tv_sec, facts.st_mtimespec.tv_nsec)
        #else
            (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
        #endif
    }
}
