public import Logging
import RichPush
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Content that ended its media process twice is refused before a third one sees it.
///
/// Kept in the state folder, where other processes see it; where there is none, or it cannot be written, in memory.
public final class Quarantine: Sendable {
    private let folder: QuarantineFolder?
    private let logger: Logger
    /// What could not be written.
    private let unwritten = Mutex<[String: QuarantineEntry]>([:])

    /// - Parameter stateFolder: nil keeps it in memory.
    public init(stateFolder: String?, logger: Logger = Logger(label: "attachprep")) {
        folder = stateFolder.map { QuarantineFolder(state: $0) }
        self.logger = logger
    }

    // MARK: For requests

    /// - Throws: `media.quarantined` when the digest is that of content in quarantine.
    func check(_ digest: String) throws {
        if let entry = entry(digest), entry.isQuarantined { throw Self.refusal(entry) }
    }

    /// Whether content in quarantine begins so: then nobody looks before all of it is known.
    func isSuspect(prefix digest: String) -> Bool {
        if folder?.hasPrefix(digest) == true { return true }
        return unwritten.withLock { $0.values.contains { $0.isQuarantined && $0.prefixes.contains(digest) } }
    }

    /// Writes down that content ended its process.
    ///
    /// - Returns: what the caller is told: the error itself, or that the content is now in quarantine.
    func record(_ error: AttachPrepError, _ subject: QuarantineEntry, source: String) -> AttachPrepError {
        let strike = QuarantineEntry.Strike(date: .now, ending: error.detail ?? error.message, source: source)
        let entry = update(subject) { ($0 ?? subject).adding(strike) }
        logger.warning(
            "media process ended",
            metadata: [
                "sha256": "\(entry.digest)", "strikes": "\(entry.strikes.count)", "ending": "\(strike.ending)",
                "source": "\(source)",
            ])
        return entry.isQuarantined ? Self.refusal(entry) : error
    }

    private func entry(_ digest: String) -> QuarantineEntry? {
        let found = unwritten.withLock { $0[digest] } ?? folder?.entry(digest)
        return found?.faded(at: .now)
    }

    private func update(_ subject: QuarantineEntry, _ change: (QuarantineEntry?) -> QuarantineEntry) -> QuarantineEntry
    {
        if let folder {
            do {
                return try folder.update(subject.digest, change)
            } catch {
                logger.error(
                    "the state folder cannot be written; quarantine is kept in memory", metadata: ["error": "\(error)"])
            }
        } else {
            logger.error("there is no state folder; quarantine is kept in memory")
        }
        return unwritten.withLock { entries in
            let entry = change(entries[subject.digest])
            if entries.count >= Limits.quarantineEntriesMax, let oldest = entries.values.min(by: Self.isOlder) {
                entries[oldest.digest] = nil
            }
            entries[subject.digest] = entry
            return entry
        }
    }

    private static func isOlder(_ one: QuarantineEntry, _ other: QuarantineEntry) -> Bool {
        one.lastDate < other.lastDate
    }

    private static func refusal(_ entry: QuarantineEntry) -> AttachPrepError {
        let what = entry.subject == .content ? "This file" : "A file that begins like this one"
        return AttachPrepError(
            .mediaQuarantined,
            "\(what) ended its media process \(Limits.quarantineStrikes) times; to try it again, run "
                + "attachprep quarantine lift \(entry.digest.prefix(shownDigits)).",
            detail: entry.strikes.last?.ending)
    }

    /// Enough to be unambiguous among ten thousand.
    private static let shownDigits = 16

    // MARK: For people

    /// All entries with strikes that still count, the latest strike first.
    public func entries() -> [QuarantineEntry] {
        // Bounded: lists.
        let kept = (folder?.entries() ?? []) + unwritten.withLock { Array($0.values) }
        return kept.map { $0.faded(at: .now) }.filter { !$0.strikes.isEmpty }
            .sorted { Self.isOlder($1, $0) }
    }

    /// Forgets an entry.
    ///
    /// - Parameter digest: its digest or the beginning of it.
    /// - Returns: the whole digest.
    /// - Throws: `request.not_found` when no entry has it, or several begin so; `output.not_writable`.
    public func lift(_ digest: String) throws -> String {
        let found = entries().map(\.digest).filter { !digest.isEmpty && $0.hasPrefix(digest.lowercased()) }
        guard let one = found.first, found.count == 1 else {
            throw AttachPrepError(
                .requestNotFound,
                found.isEmpty
                    ? "Nothing in quarantine has the digest \(digest); see attachprep quarantine list."
                    : "\(found.count) entries begin with \(digest); give more of its digits.")
        }
        try lift([one])
        return one
    }

    /// Forgets all of them.
    ///
    /// - Returns: how many there were.
    public func liftAll() throws -> Int {
        let all = entries().map(\.digest)
        try lift(all)
        return all.count
    }

    private func lift(_ digests: [String]) throws {
        try folder?.remove(digests)
        unwritten.withLock { entries in
            for digest in digests { entries[digest] = nil }
        }
    }
}
