import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What `payload --check` says of a payload: whose it is, the media in it, what is wrong.
struct PayloadReport: Encodable {
    struct Media: Encodable {
        let path: String
        let address: String
        /// `url`, `file` of the app, or `other`.
        let kind: String
        let type: String?

        private enum CodingKeys: String, CodingKey {
            case path, address, kind, type
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(path, forKey: .path)
            try values.encode(address, forKey: .address)
            try values.encode(kind, forKey: .kind)
            try values.encode(type, forKey: .type)
        }
    }

    let dialect: String
    let service: String
    /// Of the APNs payload.
    let bytes: Int
    let media: [Media]
    let warnings: [PayloadWarning]

    /// Whether the notification comes with its media.
    var isShown: Bool { !warnings.contains { $0.level == .error } }

    /// - Parameter silenced: warnings that are not reported.
    init(_ order: PayloadOrder, silenced: Set<PayloadWarning.Code> = []) {
        dialect = order.media.dialect.name
        service = order.media.dialect.service
        bytes = order.bytes
        media = order.media.items.map { item in
            let (kind, address) =
                switch item.address {
                case .url(let text): ("url", text)
                case .file(let text): ("file", text)
                case .other(let text): ("other", text)
                }
            return Media(
                path: item.path.description, address: RedactedURL.redact(address), kind: kind, type: item.declaredType)
        }
        warnings = order.warnings.filter { !silenced.contains($0.code) }
    }

    /// One line of JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// As a person reads it.
    var lines: [StyledText] {
        var rows = [("dialect", "\(dialect) (\(service))")]
        rows += media.map { ("media", "\($0.path)  \($0.address)\($0.type.map { "  as \($0)" } ?? "")") }
        rows.append(("bytes", "\(bytes.grouped) of \(Limits.payloadBytesMax.grouped)"))
        rows += warnings.map { ($0.level.rawValue, "\($0.code.rawValue): \($0.message)") }
        if !warnings.contains(where: { $0.level != .note }) {
            rows.append(("good", "iOS starts the service extension, and the media can be shown."))
        }
        return rows.map { StyledText($0.0, Self.style(of: $0.0)).filled(to: 8) + " \($0.1)" }
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
