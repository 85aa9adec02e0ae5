public import AttachPrep
import NATS
public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Results are what all machines use again: one that was made on any of them is nobody else's work any more.
///
/// Files are published where phones fetch them; what is kept here is where, and how fresh it is.
extension JetStreamQueue: ResultStore {
    public func result(for key: WorkKey) async throws -> StoredResult? {
        try await named { try await kept(QueueKeys.result(key))?.value.result() }
    }

    private func kept(_ key: String) async throws -> (value: KeptResult, revision: UInt64)? {
        guard let entry = try await results.entry(key), let bytes = entry.value else { return nil }
        return (try KeptResult(bytes), entry.revision)
    }

    /// - Parameter folder: nil: what is in a folder of this machine, no other one could give out.
    public func store(
        _ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date
    ) async throws -> StoredResult {
        precondition(folder == nil, "a queue of several machines publishes its results")
        let result = StoredResult(media: .make(), manifest: manifest, freshness: freshness, fetchedAt: fetchedAt)
        let (new, place) = (KeptResult(result), QueueKeys.result(key))
        return try await named {
            let pointer = KeyValueBucket.Change(QueueKeys.media(result.media), Array(place.utf8))
            _ = try await results.make(pointer)
            try await keep(place) { former in
                // The later fetch holds, whoever comes first.
                former.map { $0.fetchedAt > new.fetchedAt } ?? false ? nil : new
            }
            return result
        }
    }

    public func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {
        let date = fetchedAt.milliseconds
        try await named {
            guard let place = try await results.entry(QueueKeys.media(media))?.value else { return }
            try await keep(String(decoding: place, as: UTF8.self)) { former in
                guard var result = former, result.media == media.text else { return nil }
                result.freshness = freshness
                result.fetchedAt = max(result.fetchedAt, date)
                return result
            }
        }
    }

    /// Changes what is kept there, again when somebody else did meanwhile.
    ///
    /// - Parameter change: nil leaves it.
    private func keep(_ place: String, _ change: (KeptResult?) -> KeptResult?) async throws {
        while true {
            let entry = try await results.entry(place)
            let former = try entry?.value.map { try KeptResult($0) }
            guard let next = change(former) else { return }
            let wish = KeyValueBucket.Change(place, try next.bytes(), after: entry?.revision ?? 0)
            if try await results.make(wish) != nil { return }
        }
    }

    /// None: they are where they were published to.
    public func file(_ name: String, of media: MediaID) async throws -> StoredFile? { nil }
}
