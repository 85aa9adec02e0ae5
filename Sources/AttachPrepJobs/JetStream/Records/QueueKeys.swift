import Crypto

/// The keys of the bucket of jobs.
enum QueueKeys {
    static func job(_ id: String) -> String { "job.\(id)" }

    /// A batch that is whole: until it is there, none of its jobs is one.
    static func batch(_ id: String) -> String { "batch.\(id)" }

    /// What a caller's word stands for.
    static func word(_ idempotency: IdempotencyKey) -> String {
        let digest = SHA256.hash(data: Array("\(idempotency.caller)\n\(idempotency.key)".utf8))
        return "word." + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// What a key is about.
    enum Subject: Hashable, Sendable {
        case job(String)
        case batch(String)
        case word
        case other
    }

    static func subject(of key: String) -> Subject {
        if key.hasPrefix("job.") { return .job(String(key.dropFirst(4))) }
        if key.hasPrefix("batch.") { return .batch(String(key.dropFirst(6))) }
        return key.hasPrefix("word.") ? .word : .other
    }
}
