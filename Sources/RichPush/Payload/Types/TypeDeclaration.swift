/// What a payload says a file is: `image`, `JPG`, `.png`, `image/gif; q=1`, `public.mpeg-4`.
public struct TypeDeclaration: Sendable, Hashable {
    public enum Form: Sendable, Hashable {
        case word, fileExtension, mimeType, uti
    }

    /// How it is written, whether or not it is known.
    public let form: Form
    /// Nil when it is not known.
    public let kind: MediaKind?
    /// Nil when it names a kind alone, or is not known.
    public let format: MediaFormat?

    /// The documented attachable type that it names.
    public var attachmentType: AttachmentType? { format?.attachmentType }

    /// Reads what stands in a type field; a service's own words come first.
    public init(_ text: String, words: [TypeWord] = []) {
        let name = Self.trimmed(text)
        if let own = words.first(where: { $0.word.lowercased() == name }) {
            self.init(.word, own.kind, TypeNames.extensions[name].flatMap { $0.kind == own.kind ? $0 : nil })
        } else if name.contains("/") {
            self.init(mimeType: name)
        } else if let kind = TypeNames.kinds[name] {
            self.init(name.contains(".") ? .uti : .word, kind, nil)
        } else if let format = TypeNames.identifiers[name] {
            self.init(.uti, format.kind, format)
        } else if Self.identifierDomains.contains(where: { name.hasPrefix($0) }) {
            self.init(.uti, nil, nil)
        } else if name.dropFirst().contains(".") {
            self.init(.word, nil, nil)
        } else {
            let format = TypeNames.extensions[name.hasPrefix(".") ? String(name.dropFirst()) : name]
            self.init(.fileExtension, format?.kind, format)
        }
    }

    private init(mimeType: String) {
        let essence = Self.trimmed(mimeType.prefix { $0 != ";" })
        let format = TypeNames.mimeTypes[essence]
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
        // Nothing that names a type is long, and a payload may hold anything.
        let start = text.drop { $0.isWhitespace }
        let limited = start.prefix(lengthMax)
        let end = limited.lastIndex { !$0.isWhitespace }
        return end.map { limited[...$0].lowercased() } ?? ""
    }

    /// How identifiers begin; `v1.2` is none.
    private static let identifierDomains = ["public.", "com.", "org.", "net.", "dyn."]

    /// Characters that are looked at: identifiers have under 40, MIME types with parameters under 100.
    private static let lengthMax = 200
}
