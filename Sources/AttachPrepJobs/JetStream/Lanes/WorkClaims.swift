import NATS
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Who works on which key, among all machines: one value in a bucket for each key that is being worked on.
///
/// It names a job and a lease, and holds as long as that job runs under that lease: so it needs no time of its own, and
/// what a worker leaves behind that is gone holds nobody up.
final class WorkClaims: Sendable {
    /// A claim as it is kept.
    struct Holder: Codable, Sendable, Hashable {
        var job: String
        var token: Int64
    }

    private let bucket: KeyValueBucket
    /// Claims of jobs that did not run when they were looked at; the second time they are nobody's.
    private let doubted = Mutex<[String: UInt64]>([:])

    init(bucket: KeyValueBucket) {
        self.bucket = bucket
    }

    /// Claims keys for jobs that are about to run.
    ///
    /// - Parameter isAtWork: how a job stands that has a claim that another one asks for: nil when it waits, and may be
    ///   about to run.
    /// - Returns: for each its revision; nil when somebody else works on it.
    func claim(
        _ wanted: [(key: String, holder: Holder)],
        isAtWork: (_ holder: Holder, _ asking: Holder) async throws -> Bool?
    ) async throws -> [UInt64?] {
        let answers = await bucket.makeAll(try wanted.map { try Self.change($0.key, $0.holder, after: 0) })
        var revisions: [UInt64?] = []
        for (want, answer) in zip(wanted, answers) {
            if let revision = try answer.get() {
                revisions.append(revision)
            } else {
                revisions.append(try await takeOver(want.key, for: want.holder, isAtWork))
            }
        }
        return revisions
    }

    private func takeOver(
        _ key: String, for holder: Holder, _ isAtWork: (Holder, Holder) async throws -> Bool?
    ) async throws -> UInt64? {
        guard let entry = try await bucket.entry(QueueKeys.digest(key)) else { return nil }
        if let value = entry.value, let other = try? JSONDecoder().decode(Holder.self, from: Data(value)) {
            switch try await isAtWork(other, holder) {
            case true?: return nil
            case false?: break
            case nil: if !isDoubted(key, entry.revision) { return nil }
            }
        }
        doubted.withLock { $0[key] = nil }
        return try await bucket.make(Self.change(key, holder, after: entry.revision))
    }

    /// Whether it was doubted before.
    private func isDoubted(_ key: String, _ revision: UInt64) -> Bool {
        doubted.withLock { doubted in
            if doubted.count >= Self.doubtedMax { doubted = [:] }
            defer { doubted[key] = revision }
            return doubted[key] == revision
        }
    }

    private static let doubtedMax = 1_000

    /// Takes a claim away, without waiting for it: one that stays holds nobody up.
    func end(_ revision: UInt64) { bucket.forget(revision) }

    private static func change(_ key: String, _ holder: Holder, after revision: UInt64) throws -> KeyValueBucket.Change
    {
        KeyValueBucket.Change(QueueKeys.digest(key), Array(try JSONEncoder().encode(holder)), after: revision)
    }
}
