import Glibc

/// What this machine calls itself, for people who look at who has a job.
enum MachineName {
    /// Linux: gethostname(2).
    static var current: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "unnamed" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
