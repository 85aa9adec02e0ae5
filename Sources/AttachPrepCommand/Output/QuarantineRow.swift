import AttachPrep

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One entry of the quarantine, as it is shown.
struct QuarantineRow: Encodable {
    let digest: String
    /// Of the whole content, or of the first bytes when they alone were looked at.
    let subject: QuarantineEntry.Subject
    let isQuarantined: Bool
    let strikes: Int
    let first: Date
    let last: Date
    /// How its process ended, the last time.
    let ending: String
    let source: String

    init(_ entry: QuarantineEntry) {
        digest = entry.digest
        subject = entry.subject
        isQuarantined = entry.isQuarantined
        strikes = entry.strikes.count
        first = entry.strikes.first?.date ?? .distantPast
        last = entry.strikes.last?.date ?? .distantPast
        ending = entry.strikes.last?.ending ?? ""
        source = entry.strikes.last?.source ?? ""
    }

    /// One line of JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Entries below each other, as a person reads them.
    static func table(_ rows: [QuarantineRow]) -> TextTable {
        TextTable(
            columns: ["content", "status", "last", "ending"].map { TextTable.Column(title: $0) }
                + [TextTable.Column(title: "source", isAddress: true)],
            rows: rows.map(\.cells),
            // The first digits of a digest are enough to lift it.
            concessions: [
                .narrow("content", to: 16), .narrow("source", to: 24), .narrow("ending", to: 16), .leaveOut("last"),
                .narrow("source", to: 12), .leaveOut("ending"), .narrow("content", to: 9), .narrow("source", to: 1),
            ])
    }

    private var cells: [StyledText] {
        [
            StyledText(digest),
            isQuarantined ? StyledText("refused", .bad) : StyledText("one strike", .warning),
            StyledText(last.formatted(.iso8601), .dim), StyledText(ending), StyledText(source),
        ]
    }
}
