import Crypto

/// The keys of the bucket of jobs.
enum QueueKeys {
    static func job(_ id: String) -> String { "job.\(id)" }

    /// A batch that is whole: until it is there, none of its jobs is one.
    static func batch(_ id: String) -> String { "batch.\(id)" }

    /// What a caller's word stands for.
    static func word(_ idempotency: IdempotencyKey) -> String {
        "word.\(digest("\(idempotency.caller)\n\(idempotency.key)"))"
    }

    /// Any text as a part of a key, which is not any text.
    static func digest(_ text: String) -> String {
        SHA256.hash(data: Array(text.utf8)).reduce(into: "") { text, byte in
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)  // Bounded: texts, not numbers.
        }
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
