import AttachPrepModel
public import FoundationEssentials
public import Logging
import MediaEngine
import MediaTypes
import Synchronization

/// Rejects content that has ended its media process twice: by a crash, or by exceeding its memory or processor time.
///
/// Entries are kept in the data folder, shared with other processes; without a writable one, in memory.
public final class Quarantine: Sendable {
    private let folder: QuarantineFolder?
    private let logger: Logger
    /// Entries that could not be written to the data folder.
    private let inMemory = Mutex<[String: QuarantineEntry]>([:])
    private let counted = Mutex(QuarantineCounts())

    /// - Parameters:
    ///   - dataFolder: The data folder; nil keeps entries in memory.
    ///   - logger: Where entries are logged.
    public init(dataFolder: String?, logger: Logger = Logger(label: "attachprep")) {
        folder = dataFolder.map { QuarantineFolder(folder: $0) }
        self.logger = logger
    }

    // MARK: Checks and strikes

    /// - Throws: `media.quarantined` when the content with this digest is in quarantine.
    func check(_ digest: String) throws {
        guard let entry = entry(digest), entry.isQuarantined else { return }
        counted.withLock { $0.rejections += 1 }
        throw Self.quarantinedError(entry)
    }

    /// Whether content in quarantine has this prefix digest; then nothing is decoded before the whole file is known.
    func isSuspect(prefix digest: String) -> Bool {
        if folder?.hasPrefix(digest) == true { return true }
        return inMemory.withLock { $0.values.contains { $0.isQuarantined && $0.prefixes.contains(digest) } }
    }

    /// Records a strike: the content ended its media process.
    ///
    /// - Returns: The error to report: the given one, or `media.quarantined` when the limit of strikes is reached.
    func record(_ error: AttachPrepError, subject: QuarantineEntry, source: String) -> AttachPrepError {
        let strike = QuarantineEntry.Strike(date: .now, ending: error.detail ?? error.message, source: source)
        let entry = update(subject) { ($0 ?? subject).adding(strike) }
        counted.withLock { $0.strikes += 1 }
        logger.warning(
            "media process ended",
            metadata: [
                "sha256": "\(entry.digest)", "strikes": .stringConvertible(entry.strikes.count),
                "ending": "\(strike.ending)",
                "source": "\(source)",
            ])
        return entry.isQuarantined ? Self.quarantinedError(entry) : error
    }

    /// The events since this object was created.
    var counts: QuarantineCounts { counted.withLock { $0 } }

    private func entry(_ digest: String) -> QuarantineEntry? {
        let found = inMemory.withLock { $0[digest] } ?? folder?.entry(digest)
        return found?.withoutExpiredStrikes(at: .now)
    }

    private func update(_ subject: QuarantineEntry, _ change: (QuarantineEntry?) -> QuarantineEntry) -> QuarantineEntry
    {
        if let folder {
            do {
                return try folder.update(subject.digest, change)
            } catch {
                logger.error(
                    "the data folder cannot be written; quarantine is kept in memory", metadata: ["error": "\(error)"])
            }
        } else {
            logger.error("there is no data folder; quarantine is kept in memory")
        }
        return inMemory.withLock { entries in
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

    private static func quarantinedError(_ entry: QuarantineEntry) -> AttachPrepError {
        let what = entry.subject == .content ? "This file" : "A file with these first bytes"
        return AttachPrepError(
            .mediaQuarantined,
            "\(what) is blocked, because decoding it crashed or took too much \(Limits.quarantineStrikes) times; to "
                + "try it again, run attachprep quarantine lift \(entry.digest.prefix(shownDigits)).",
            detail: entry.strikes.last?.ending)
    }

    /// Digits shown of a digest: enough to be unambiguous among 10,000 entries.
    private static let shownDigits = 16

    // MARK: Administration

    /// All entries with unexpired strikes, latest strike first.
    public func entries() -> [QuarantineEntry] {
        let kept = (folder?.entries() ?? []) + inMemory.withLock { Array($0.values) }
        return kept.map { $0.withoutExpiredStrikes(at: .now) }.filter { !$0.strikes.isEmpty }
            .sorted { Self.isOlder($1, $0) }
    }

    /// Removes an entry.
    ///
    /// - Parameter digest: Its digest or a prefix of it.
    /// - Returns: The complete digest.
    /// - Throws: `request.not_found` when no entry or several entries match; `output.not_writable`.
    public func lift(_ digest: String) throws -> String {
        let found = entries().map(\.digest).filter { !digest.isEmpty && $0.hasPrefix(digest.lowercased()) }
        guard let one = found.first, found.count == 1 else {
            throw AttachPrepError(
                .requestNotFound,
                found.isEmpty
                    ? "No entry in quarantine has the digest \(digest); run attachprep quarantine list."
                    : "\(found.count) entries begin with \(digest); give more digits.")
        }
        try lift([one])
        return one
    }

    /// Removes all entries.
    ///
    /// - Returns: The number of removed entries.
    public func liftAll() throws -> Int {
        let all = entries().map(\.digest)
        try lift(all)
        return all.count
    }

    private func lift(_ digests: [String]) throws {
        try folder?.remove(digests)
        inMemory.withLock { entries in
            for digest in digests { entries[digest] = nil }
        }
    }
}

/// How often content got a strike, and how often it was rejected.
public struct QuarantineCounts: Sendable, Hashable {
    /// Ends of media processes that were counted against their content.
    public var strikes = 0
    /// Rejections of content because it is in quarantine.
    public var rejections = 0

    public init() {}
}

/// A quarantine entry: the strikes of one content.
public struct QuarantineEntry: Codable, Sendable, Hashable {
    /// The bytes from which the digest is computed.
    public enum Subject: String, Codable, Sendable, Hashable {
        /// The whole file.
        case content
        /// The first bytes only, for a crash during identification.
        case firstBytes
    }

    /// One end of a media process that counts against the content.
    public struct Strike: Codable, Sendable, Hashable {
        public var date: Date
        /// How the process ended: `signal 11, Segmentation fault`.
        public var ending: String
        /// Where the content came from, redacted.
        public var source: String

        package init(date: Date, ending: String, source: String) {
            self.date = date
            self.ending = ending.bounded(characters: Limits.quarantineTextCharactersMax)
            self.source = source.bounded(characters: Limits.quarantineTextCharactersMax)
        }
    }

    /// SHA-256 in lowercase hexadecimal.
    public var digest: String
    public var subject: Subject
    /// Oldest first; expired strikes are removed with the next one.
    public internal(set) var strikes: [Strike]
    /// Digests of the prefixes that identification reads (`PrefixDigest`).
    var prefixes: [String]

    package init(digest: String, subject: Subject, prefixes: [String] = []) {
        self.digest = digest
        self.subject = subject
        self.prefixes = prefixes
        strikes = []
    }

    /// Whether the content is rejected.
    public var isQuarantined: Bool { strikes.count >= Limits.quarantineStrikes }

    /// The date of the last strike.
    var lastDate: Date { strikes.last?.date ?? .distantPast }

    /// The entry with one more strike, without those that have expired by then. Pure.
    func adding(_ strike: Strike) -> QuarantineEntry {
        var entry = withoutExpiredStrikes(at: strike.date)
        entry.strikes = (entry.strikes + [strike]).suffix(Limits.quarantineStrikes)
        return entry
    }

    /// The entry without the strikes that have expired by the date. Pure.
    func withoutExpiredStrikes(at date: Date) -> QuarantineEntry {
        var entry = self
        entry.strikes = strikes.filter { date.timeIntervalSince($0.date) < Limits.quarantineStrikeSecondsMax }
        return entry
    }
}

/// An engine for one content: rejects it when it is in quarantine, and records a strike when its media process ends.
struct QuarantiningEngine: MediaEngine {
    let engine: any MediaEngine
    let quarantine: Quarantine
    let digest: String
    /// Makes the entry for a first strike; called only when a process has ended.
    let subject: @Sendable () -> QuarantineEntry
    /// Redacted URL of the source, for the entry.
    let source: String

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        try quarantine.check(digest)
        do {
            return try await engine.perform(call, descriptors: descriptors, deadline: deadline)
        } catch let error as AttachPrepError where [.mediaDecoderCrashed, .mediaTooComplex].contains(error.code) {
            throw quarantine.record(error, subject: subject(), source: source)
        }
    }

    func withSlot<Result: Sendable>(
        _ kind: MediaWorkKind, _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result {
        try await engine.withSlot(kind) { [self] slot in
            try await body(
                QuarantiningEngine(
                    engine: slot, quarantine: quarantine, digest: digest, subject: subject, source: source))
        }
    }

    func withFreeSlot<Result: Sendable>(
        _ body: @Sendable (any MediaEngine) async throws -> Result
    ) async throws -> Result? {
        try await engine.withFreeSlot { [self] slot in
            try await body(
                QuarantiningEngine(
                    engine: slot, quarantine: quarantine, digest: digest, subject: subject, source: source))
        }
    }
}

extension Limits {
    /// Process ends after which content is blocked: one may be caused by the machine.
    static let quarantineStrikes = 2
    /// Two weeks: by then libraries have been updated, and content that crashed an old version may be tried again.
    static let quarantineStrikeSecondsMax = 14.0 * 24 * 3600
    /// Entries in a data folder, some 500 bytes each; the oldest are deleted.
    static let quarantineEntriesMax = 10_000
    /// Characters of an entry's source and of the reason why its process ended.
    static let quarantineTextCharactersMax = 500
}
