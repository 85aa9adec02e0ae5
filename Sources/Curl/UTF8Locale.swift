#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// UTF-8 for one call on this thread.
///
/// libcurl hands international host names to libidn2 in the locale's encoding, and a Swift process never leaves the
/// plain C locale; changing the process's own locale is not a library's business.
enum UTF8Locale {
    /// Runs `body` with UTF-8 as this thread's encoding, where the system has it.
    static func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        guard let locale = unsafe newlocale(Int32(LC_CTYPE_MASK), "C.UTF-8", nil) else { return try body() }
        let previous = unsafe uselocale(locale)
        defer {
            _ = unsafe uselocale(previous)
            unsafe freelocale(locale)
        }
        return try body()
    }
}
