import NATS
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a caller's idempotency key stands for.
struct KeptWord: Codable, Sendable, Hashable {
    var digest: String
    var createdAt: Int64
    var jobs: [String]
    var batch: String

    init(_ idempotency: IdempotencyKey, jobs: [String], batch: String, at now: Int64) {
        digest = idempotency.bodyDigest
        createdAt = now
        self.jobs = jobs
        self.batch = batch
    }

    func bytes() throws -> [UInt8] { Array(try JSONEncoder().encode(self)) }
}

extension JetStreamQueue {
    /// An earlier use of a key.
    struct EarlierWord: Sendable {
        var revision: UInt64
        /// Nil when it is too long ago, or they are gone: nothing speaks against doing it again.
        var jobs: [Job]?
    }

    /// - Returns: nil when there was none.
    /// - Throws: `request.conflict` when the key came with another body.
    func word(_ idempotency: IdempotencyKey) async throws -> EarlierWord? {
        guard let entry = try await jobs.entry(QueueKeys.word(idempotency)) else { return nil }
        var earlier = EarlierWord(revision: entry.revision)
        guard let value = entry.value, let word = try? JSONDecoder().decode(KeptWord.self, from: Data(value)),
            // Bounded: a product of our own limits and settings.
            clock.now().wall.subtracting(clamping: word.createdAt) < Int64(Limits.idempotencySecondsMax * 1000)
        else { return earlier }
        guard word.digest == idempotency.bodyDigest else {
            throw AttachPrepError(
                .requestConflict,
                "This Idempotency-Key came with another body less than a day ago; take a new key for a new request.")
        }
        // Who used it may have ended before its batch was whole.
        _ = try await jobs.make(KeyValueBucket.Change(QueueKeys.batch(word.batch), [], after: 0))
        var found: [Job] = []
        for id in word.jobs { if let job = try await fetch(id) { found.append(try job.value.job()) } }
        earlier.jobs = found.isEmpty && !word.jobs.isEmpty ? nil : found
        return earlier
    }
}
