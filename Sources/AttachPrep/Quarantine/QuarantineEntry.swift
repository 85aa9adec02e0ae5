import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What is known of content that ended its media process.
public struct QuarantineEntry: Codable, Sendable, Hashable {
    /// What the digest is taken over.
    public enum Subject: String, Codable, Sendable, Hashable {
        /// The whole file.
        case content
        /// The first bytes, when they alone were looked at.
        case firstBytes
    }

    /// One end of a process.
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

    /// SHA-256 in lower-case hexadecimal.
    public var digest: String
    public var subject: Subject
    /// In the order of their coming; older ones have faded.
    public internal(set) var strikes: [Strike]
    /// Digests of the content's first bytes as identification looks at them.
    var prefixes: [String]

    package init(digest: String, subject: Subject, prefixes: [String] = []) {
        self.digest = digest
        self.subject = subject
        self.prefixes = prefixes
        strikes = []
    }

    /// Whether it is refused.
    public var isQuarantined: Bool { strikes.count >= Limits.quarantineStrikes }

    /// When it last ended a process.
    var lastDate: Date { strikes.last?.date ?? .distantPast }

    /// The same with a strike more; those that have faded by then are gone. Pure.
    func adding(_ strike: Strike) -> QuarantineEntry {
        var entry = faded(at: strike.date)
        entry.strikes = (entry.strikes + [strike]).suffix(Limits.quarantineStrikes)
        return entry
    }

    /// What is left of it at that time. Pure.
    func faded(at date: Date) -> QuarantineEntry {
        var entry = self
        entry.strikes = strikes.filter { date.timeIntervalSince($0.date) < Limits.quarantineStrikeSecondsMax }
        return entry
    }
}
