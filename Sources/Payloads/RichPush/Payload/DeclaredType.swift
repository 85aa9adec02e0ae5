/// A declared type of a payload, parsed: `image`, `JPG`, `.png`, `image/gif; q=1`, `public.mpeg-4`.
public struct DeclaredType: Sendable, Hashable {
    public enum Form: Sendable, Hashable {
        case keyword, fileExtension, mimeType, uti
    }

    /// The form in which the type is written, even when it is unknown.
    public let form: Form
    /// Nil when the type is unknown.
    public let kind: MediaKind?
    /// Nil when the type names only a kind, or is unknown.
    public let format: MediaFormat?

    /// The attachable type; nil when the type is unknown, only a kind or not attachable.
    public var attachmentType: AttachmentType? { format?.attachmentType }

    /// Parses the text of a type field; a service's own keywords take precedence.
    public init(_ text: String, keywords: [TypeKeyword] = []) {
        let name = Self.trimmed(text)
        if let own = keywords.first(where: { $0.keyword.lowercased() == name }) {
            self.init(.keyword, own.kind, MediaTypeNames.extensions[name].flatMap { $0.kind == own.kind ? $0 : nil })
        } else if name.contains("/") {
            self.init(mimeType: name)
        } else if let kind = MediaTypeNames.kinds[name] {
            self.init(name.contains(".") ? .uti : .keyword, kind, nil)
        } else if let format = MediaTypeNames.identifiers[name] {
            self.init(.uti, format.kind, format)
        } else if Self.identifierDomains.contains(where: { name.hasPrefix($0) }) {
            self.init(.uti, nil, nil)
        } else if name.dropFirst().contains(".") {
            self.init(.keyword, nil, nil)
        } else {
            let format = MediaTypeNames.extensions[name.hasPrefix(".") ? String(name.dropFirst()) : name]
            self.init(.fileExtension, format?.kind, format)
        }
    }

    private init(mimeType: String) {
        let essence = Self.trimmed(mimeType.prefix { $0 != ";" })
        let format = MediaTypeNames.mimeTypes[essence]
        let kind: MediaKind? =
            switch essence.prefix(while: { $0 != "/" }) {
            case "image": .image
            case "audio": .audio
            case "video": .movie
            default: nil
            }
        self.init(.mimeType, format?.kind ?? kind, format)
    }

    private init(_ form: Form, _ kind: MediaKind?, _ format: MediaFormat?) {
        self.form = form
        self.kind = kind
        self.format = format
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        // Type names are short; the limit bounds the work for hostile payloads.
        let start = text.drop { $0.isWhitespace }
        let limited = start.prefix(lengthMax)
        let end = limited.lastIndex { !$0.isWhitespace }
        return end.map { limited[...$0].lowercased() } ?? ""
    }

    /// Prefixes that distinguish a UTI from other text with dots, such as `v1.2`.
    private static let identifierDomains = ["public.", "com.", "org.", "net.", "dyn."]

    /// The number of characters read: UTIs have under 40, MIME types with parameters under 100.
    private static let lengthMax = 200
}
