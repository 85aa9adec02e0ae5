/// The payload format of one push service: where and how it names media.
///
/// Rows are data alone; `PayloadDialect.all` is the table.
public struct PayloadDialect: Sendable, Hashable {
    /// The value of `--dialect`: `airship`, `home-assistant`.
    public let name: String
    /// The name of the service, for messages.
    public let service: String
    /// The locations of media.
    public let locations: [MediaLocation]
    /// Which of the locations for iOS are used; those for other systems are all used.
    public let choice: Choice
    /// Values that distinguish the service from others with the same keys. A dialect with marks of which none matches
    /// is tried last.
    public let marks: [DialectMark]
    /// Values that every payload of the service has: without one of them, the dialect is not detected.
    public let required: [DialectMark]
    /// Keys that no payload of the service has: with one of them, the dialect is not detected.
    public let excluded: [PayloadPattern]
    /// Types that files must have because the service's SDK saves every file of their kind under that extension; kinds
    /// without a type are not restricted.
    public let attachmentTypes: [AttachmentType]

    public enum Choice: Sendable, Hashable {
        /// Only the first location with media, as in the service's SDK.
        case firstLocation
        /// All locations, in order.
        case allLocations
    }

    public init(
        _ name: String, service: String, choice: Choice = .firstLocation, marks: [DialectMark] = [],
        required: [DialectMark] = [], excluded: [PayloadPattern] = [], attachmentTypes: [AttachmentType] = [],
        locations: [MediaLocation]
    ) {
        self.name = name
        self.service = service
        self.choice = choice
        self.marks = marks
        self.required = required
        self.excluded = excluded
        self.attachmentTypes = attachmentTypes
        self.locations = locations
    }
}

/// A value that only one of several services with the same keys writes.
public struct DialectMark: Sendable, Hashable {
    public let pattern: PayloadPattern
    /// The required beginning of the text; nil for any value.
    public let prefix: String?

    public init(_ pattern: PayloadPattern, prefix: String? = nil) {
        self.pattern = pattern
        self.prefix = prefix
    }
}

/// A pattern of paths in a payload.
///
/// Written as steps, since keys may contain dots: `["com.batch", "at", "u"]`, `["_wp", "attachments", .each, "url"]`.
public struct PayloadPattern: Sendable, Hashable, ExpressibleByArrayLiteral {
    public enum Step: Sendable, Hashable, ExpressibleByStringLiteral {
        case key(String)
        /// Every element of an array.
        case each
        /// The first element of an array, when the service's SDK reads no other.
        case first
        /// Every member of an object; its key is the id of the item.
        case eachMember
        /// Into the JSON text in a string.
        case text
        /// Every string below, at any depth, that looks like the URL of media: for values whose keys the app defines.
        case mediaBelow
        /// Keys and array indices, separated by dots, also inside JSON texts. A key may contain dots; the longest
        /// existing key is used.
        case dotted([String])

        public init(stringLiteral key: String) { self = .key(key) }
    }

    public let steps: [Step]

    public init(arrayLiteral steps: Step...) { self.steps = steps }
    public init(_ steps: [Step]) { self.steps = steps }
}

/// How a service writes the type of a media item.
public enum TypeNotation: Sendable, Hashable {
    /// No type field.
    case none
    /// Keyword, extension, MIME type or UTI; written in the form that was found.
    case any
    /// A file extension without a dot; `standard` is assumed when it is missing, nil when the type is required.
    case fileExtension(standard: String?)
    /// Keywords of the service, required; the first one for a type is written.
    case keywords([TypeKeyword])
    /// Keywords of the service or a UTI, optional.
    case keywordsOrUTI([TypeKeyword])
}

/// A service's keyword for a kind or a type.
public struct TypeKeyword: Sendable, Hashable {
    public let keyword: String
    public let kind: MediaKind
    /// The type that the keyword names; nil for every type of its kind.
    public let type: AttachmentType?

    public init(_ keyword: String, _ kind: MediaKind) {
        self.keyword = keyword
        self.kind = kind
        type = nil
    }

    public init(_ keyword: String, _ type: AttachmentType) {
        self.keyword = keyword
        kind = type.kind
        self.type = type
    }
}

extension PayloadDialect {
    /// All dialects in the order in which they are tried: the most specific ones first.
    public static let all: [PayloadDialect] =
        liveActivities + webPush + marketingServices + engagementServices + messagingServices + platforms
        + homeAndTools + sharedKeys + tutorials + generalKeys + firebaseAdminSDKs

    /// Returns the dialect with a name; throws `request.invalid`, suggesting the nearest name, when there is none.
    public static func named(_ name: String) throws -> PayloadDialect {
        let wanted = String(name.lowercased().map { "_.".contains($0) ? "-" : $0 })
        if let dialect = all.first(where: { $0.name == wanted }) { return dialect }
        let nearest = EditDistance.nearest(to: String(wanted.unicodeScalars.prefix(40)), of: all.map(\.name))
        let suggestion = nearest.map { ", perhaps \($0)" } ?? ""
        throw PayloadError(
            .requestInvalid,
            "Unknown dialect \(PrintableText.quoted(name)); use a known one\(suggestion): \(knownNames).")
    }

    /// All names in alphabetical order, for messages and help.
    public static var knownNames: String { all.map(\.name).sorted().joined(separator: ", ") }

    /// The name of dialects that are created from a media key.
    static let customName = "custom"

    /// Creates a dialect for an app's own key: `image`, `data.media.url`, `gallery[0].src`, `gallery[].src` for each
    /// element.
    ///
    /// Keys may contain dots. The value is an address, an object with `url`, or an array of either.
    /// Throws `request.invalid` for an empty or too long key.
    public static func custom(mediaKey: String) throws -> PayloadDialect {
        let key = PrintableText.trimmed(mediaKey)
        guard !key.isEmpty, key.utf8.count <= Limits.payloadMediaKeyBytesMax else {
            throw PayloadError(
                .requestInvalid,
                "The media key has \(key.utf8.count) bytes; write 1 to \(Limits.payloadMediaKeyBytesMax) bytes, "
                    + "with dots between the keys: data.image.")
        }
        if key.range(ofFirst: "[]") != nil {
            let pattern = eachElement(key)
            return PayloadDialect(
                customName, service: "The app's own key \(PrintableText.quoted(key))",
                locations: [MediaLocation(pattern), objectLocation(pattern)])
        }
        let plain = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let indexed = String(key.filter { $0 != "]" }.map { $0 == "[" ? "." : $0 })
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let spellings = plain == indexed ? [plain] : [plain, indexed]
        return PayloadDialect(
            customName, service: "The app's own key \(PrintableText.quoted(key))",
            locations: spellings.flatMap { parts in
                let here = PayloadPattern([.dotted(parts)])
                let each = here.appending(.each)
                return [
                    MediaLocation(here), MediaLocation(each), objectLocation(here), objectLocation(each),
                ]
            })
    }

    /// Parses `a.b[].c`: keys separated by dots, and `[]` for every element of an array.
    private static func eachElement(_ key: String) -> PayloadPattern {
        let parts = key.split(around: "[]")
        let steps = parts.enumerated().flatMap { index, part in
            let keys = part.split(separator: ".").map(String.init)
            let own: [PayloadPattern.Step] = keys.isEmpty ? [] : [.dotted(keys)]
            return index == 0 ? own : [.each] + own
        }
        return PayloadPattern(steps)
    }

    /// The location for an object with the address in `url`.
    private static func objectLocation(_ object: PayloadPattern) -> MediaLocation {
        MediaLocation(
            object.appending("url"), [.id: object.appending("id"), .type: object.appending("type")], types: .any)
    }
}

extension PayloadPattern {
    func appending(_ step: Step) -> PayloadPattern { PayloadPattern(steps + [step]) }
}

extension Limits {
    /// Bytes of a media key: the longest path of a known dialect has 40.
    static let payloadMediaKeyBytesMax = 500
}
