import AttachPrepModel
public import MediaTypes

/// The attachment types that an app or the SDK in it can show. A kind without a type in the list is not restricted.
///
/// Some SDKs save every file of a kind under one extension, from which iOS takes the type.
public struct AcceptedTypes: Sendable, Hashable {
    public let types: Set<AttachmentType>

    /// Types that can be written, one of which is required for each restricted kind.
    private static let writable: [MediaKind: [AttachmentType]] = [
        .image: [.jpeg], .audio: [.mpeg4Audio, .mp3], .movie: [.mpeg4],
    ]

    public init(_ types: some Sequence<AttachmentType>) {
        self.types = Set(types)
    }

    public func contains(_ type: AttachmentType) -> Bool {
        types.contains(type) || !types.contains { $0.kind == type.kind }
    }

    /// The names of the types for a kind, for messages.
    func names(of kind: MediaKind) -> String { Self.names(types.filter { $0.kind == kind }) }

    private static func names(_ types: some Sequence<AttachmentType>) -> String {
        types.map(\.fileExtension).sorted().joined(separator: ", ")
    }

    /// Throws `request.invalid` for an empty list, and when nothing that can be written is accepted for a kind.
    func validate() throws {
        guard !types.isEmpty else {
            throw AttachPrepError(
                .requestInvalid, "The list of attachment types is empty; give at least one type, such as mp3.")
        }
        for kind in MediaKind.allCases where types.contains(where: { $0.kind == kind }) {
            let writable = Self.writable[kind] ?? []
            guard types.isDisjoint(with: writable) else { continue }
            throw AttachPrepError(
                .requestInvalid,
                "The attachment types \(names(of: kind)) include none that the service can write as "
                    + "\(kind.rawValue); add \(writable.map(\.fileExtension).joined(separator: " or ")).")
        }
    }
}

/// The JSON form: a list of file extensions in alphabetical order.
extension AcceptedTypes: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(
            try decoder.singleValueContainer().decode([String].self).map { try AttachmentType(fileExtension: $0) })
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(types.map(\.fileExtension).sorted())
    }
}

extension AttachmentType {
    /// The type with a file extension of `AttachmentType.fileExtension`. Throws `request.invalid` for another text.
    init(fileExtension text: String) throws {
        guard let type = Self.allCases.first(where: { $0.fileExtension == text }) else {
            throw AttachPrepError(
                .requestInvalid,
                "\(PrintableText.quoted(text)) is not an attachment type; known types are "
                    + "\(Self.allCases.map(\.fileExtension).sorted().joined(separator: ", ")).")
        }
        self = type
    }
}

extension AcceptedTypes {
    /// Parses the form of the command line: `mp3,mp4`. Throws `request.invalid`.
    public init(text: String) throws {
        self.init(try text.split(separator: ",").map { try AttachmentType(fileExtension: String($0)) })
    }
}

extension OptionForm where Value == AcceptedTypes {
    /// A list of file extensions.
    static var types: OptionForm {
        let names = AttachmentType.allCases.map(\.fileExtension).sorted()
        let listed = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return OptionForm(
            schema: #""type": ["array", "null"], "items": {"enum": [\#(listed)]}, "minItems": 1"#,
            examples: ["jpg", "mp3,mp4"],
            parse: { try? AcceptedTypes(text: $0) },
            text: { $0.types.map(\.fileExtension).sorted().joined(separator: ",") }, validate: { try $0.validate() })
    }
}
