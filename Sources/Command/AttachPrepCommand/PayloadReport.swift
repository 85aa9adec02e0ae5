import AttachPrep
import AttachPrepModel
import FoundationEssentials
import PushPayload
import RichPush

/// The result of `payload --check`: dialect, media and warnings.
struct PayloadReport: Encodable {
    struct Media: Encodable {
        let path: String
        let address: String
        /// `url`, `file` (of the app), or `other`.
        let kind: String
        /// The system that shows it, or `avatar`.
        let target: MediaTarget
        @Nullable private(set) var type: String?
    }

    /// The index in an array of payloads; nil for a single payload.
    let index: Int?
    let dialect: String
    let service: String
    /// The size of what iOS receives; of web push, of the message.
    let bytes: Int
    let media: [Media]
    let warnings: [PayloadWarning]

    /// The limit of `bytes`.
    private let bytesMax: Int
    /// The sentence when nothing is in the way of the media; nil when something is.
    private let good: String?

    /// Whether the media is expected to be shown: no warning has level `error`.
    var isShown: Bool { !warnings.contains { $0.level == .error } }

    private enum CodingKeys: String, CodingKey {
        case index, dialect, service, bytes, media, warnings
    }

    /// - Parameter silenced: warnings that are not reported.
    init(_ rewriter: PayloadRewriter, silenced: Set<PayloadWarning.Code> = [], index: Int? = nil) {
        self.index = index
        dialect = rewriter.media.dialect.name
        service = rewriter.media.dialect.service
        bytes = rewriter.bytes
        bytesMax = rewriter.bytesMax
        media = (rewriter.media.items + rewriter.media.otherItems).map { item in
            let (kind, address) =
                switch item.address {
                case .url(let text): ("url", text)
                case .file(let text): ("file", text)
                case .other(let text): ("other", text)
                }
            return Media(
                path: item.path.description, address: RedactedURL.redact(address), kind: kind,
                target: item.location.target, type: item.declaredType)
        }
        let all = rewriter.warnings
        warnings = all.filter { !silenced.contains($0.code) }
        let isInTheWay = all.contains { $0.level != .note || Self.preventing.contains($0.code) }
        good = isInTheWay ? nil : Self.good(rewriter.media)
    }

    /// Codes that mean, at any level, that no media is shown: a note is about a payload that may be a local one.
    private static let preventing: Set<PayloadWarning.Code> = [.mutableContentMissing, .alertMissing]

    private static func good(_ media: PayloadMedia) -> String {
        if media.isTextOnly { return "The alert has no media; its arrival can be counted." }
        if media.isWebPush { return "A browser can show the media." }
        if media.isLiveActivity { return "The app's Live Activity can show the media." }
        return media.items.isEmpty
            ? "The media can be shown." : "iOS starts the service extension, and the media can be shown."
    }

    /// One line of JSON.
    func json() throws -> String {
        try JSONEncoder.singleLine.text(self)
    }

    /// The text output.
    var lines: [StyledText] {
        var rows = index.map { [("payload", "[\($0)]")] } ?? []
        rows.append(("dialect", "\(dialect) (\(service))"))
        rows += media.map { item in
            let type = item.type.map { "  as \($0)" } ?? ""
            return ("media", "\(item.path)  \(item.address)\(type)\(item.target == .ios ? "" : "  for \(item.target)")")
        }
        rows.append(("bytes", "\(bytes.grouped) of \(bytesMax.grouped)"))
        rows += warnings.map { ($0.level.rawValue, "\($0.code.rawValue): \($0.message)") }
        if let good { rows.append(("good", good)) }
        return rows.map { Self.row($0.0, text: $0.1) }
    }

    /// A line of the text output: a label and its text.
    static func row(_ label: String, text: String) -> StyledText {
        StyledText(label, style(of: label)).filled(to: 8) + " \(text)"
    }

    private static func style(of label: String) -> TerminalStyle {
        switch label {
        case "error": .bad
        case "warning": .warning
        case "good": .good
        default: .dim
        }
    }
}

/// The table of `payload --list-dialects`: name, service and media keys.
enum DialectTable {
    static var table: TextTable {
        let dialects = PayloadDialect.all.sorted { $0.name < $1.name }
        return TextTable(
            columns: ["dialect", "service", "media"].map { TextTable.Column(title: $0) },
            rows: dialects.map { dialect in
                [
                    StyledText(dialect.name), StyledText(dialect.service),
                    StyledText(locations(of: dialect).joined(separator: ", ")),
                ]
            },
            narrowingSteps: [
                .narrow("media", to: 20), .narrow("service", to: 12), .leaveOut("service"), .narrow("media", to: 10),
            ])
    }

    /// The dialect's locations in delivered payloads; those in API requests only if there are no others.
    static func locations(of dialect: PayloadDialect) -> [String] {
        let delivered = dialect.locations.filter { !$0.isRequest }
        // JSON inside a string and plain JSON have the same description.
        return (delivered.isEmpty ? dialect.locations : delivered).map(\.address.description).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }
}
