/// How one push service writes media into a payload: a row of the table of dialects.
///
/// Rows are data alone; `PayloadDialect.all` is the table.
public struct PayloadDialect: Sendable, Hashable {
    /// What `--dialect` calls it: `airship`, `home-assistant`.
    public let name: String
    /// What people call it.
    public let service: String
    /// Where media may stand.
    public let places: [MediaPlace]
    /// Which places count.
    public let choice: Choice
    /// What tells it from another service with the same keys: one of them is there. Without any it is tried last.
    public let marks: [DialectMark]

    public enum Choice: Sendable, Hashable {
        /// The first place that holds something: the others are not looked at by the service's SDK.
        case firstPlace
        /// All of them, in their order.
        case allPlaces
    }

    public init(
        _ name: String, service: String, choice: Choice = .firstPlace, marks: [DialectMark] = [], places: [MediaPlace]
    ) {
        self.name = name
        self.service = service
        self.choice = choice
        self.marks = marks
        self.places = places
    }
}

/// Something that only one of the services with the same keys writes.
public struct DialectMark: Sendable, Hashable {
    public let pattern: PayloadPattern
    /// How the text that stands there begins; nil when anything will do.
    public let prefix: String?

    public init(_ pattern: PayloadPattern, prefix: String? = nil) {
        self.pattern = pattern
        self.prefix = prefix
    }
}

/// One place where a dialect writes media, with what goes along with it.
public struct MediaPlace: Sendable, Hashable {
    /// Something that a dialect says of its media.
    public enum Field: String, Sendable, Hashable, CaseIterable {
        case id, type, name, bytes, fallbackURL
        case clippingRect, thumbnailTime, thumbnailHidden, typeHint
    }

    /// Where the address stands.
    public let address: PayloadPattern
    /// Where the rest stands; a pattern takes the same elements as the address's.
    public let fields: [Field: PayloadPattern]
    /// Other places for fields, for services whose clients differ; the first that is there counts.
    public let otherFields: [[Field: PayloadPattern]]
    /// Where the id of the one media stands whose picture is shown collapsed: the others' thumbnails are hidden.
    public let thumbnailID: PayloadPattern?
    /// What else is about this media alone, options that we do not know for one: goes when the media goes.
    public let companions: [PayloadPattern]
    /// What takes another value's place along with the fallback's address.
    public let fallbackMoves: [FallbackMove]
    /// How the type is written.
    public let types: TypeSpelling
    /// What the key itself says of the media, and the key for other types: `movie` becomes `image`.
    public let keys: [MediaKey]
    /// Whether an address that does not begin with `http` is a file of the app's.
    public let namesLocalFiles: Bool
    /// The top of the APNs payload in what the service is sent: empty but for requests to an API.
    public let root: PayloadPath
    /// Whether it is a request to the service's API that has no `aps`: the service makes the APNs payload of it.
    public let isRequest: Bool

    public init(
        _ address: PayloadPattern, _ fields: [Field: PayloadPattern] = [:], otherFields: [[Field: PayloadPattern]] = [],
        thumbnailID: PayloadPattern? = nil, companions: [PayloadPattern] = [], fallbackMoves: [FallbackMove] = [],
        types: TypeSpelling = .none, keys: [MediaKey] = [], namesLocalFiles: Bool = false,
        root: PayloadPath = PayloadPath(), isRequest: Bool = false
    ) {
        self.address = address
        self.fields = fields
        self.otherFields = otherFields
        self.thumbnailID = thumbnailID
        self.companions = companions
        self.fallbackMoves = fallbackMoves
        self.isRequest = isRequest
        self.types = types
        self.keys = keys
        self.namesLocalFiles = namesLocalFiles
        self.root = root
    }
}

/// A value that is written elsewhere when the fallback's address is used.
public struct FallbackMove: Sendable, Hashable {
    public let from: PayloadPattern
    public let to: PayloadPattern

    public init(from: PayloadPattern, to: PayloadPattern) {
        self.from = from
        self.to = to
    }
}

/// A key that says what its media is: the last key of the address.
public struct MediaKey: Sendable, Hashable {
    public let key: String
    public let kind: MediaKind
    /// For GIFs alone, where a service has a key for them.
    public let isAnimation: Bool

    public init(_ key: String, _ kind: MediaKind, isAnimation: Bool = false) {
        self.key = key
        self.kind = kind
        self.isAnimation = isAnimation
    }
}

/// Paths of one form: what a row of the table says of where something stands.
///
/// Written as steps, since keys may hold dots: `["com.batch", "at", "u"]`, `["_wp", "attachments", .each, "url"]`.
public struct PayloadPattern: Sendable, Hashable, ExpressibleByArrayLiteral {
    public enum Step: Sendable, Hashable, ExpressibleByStringLiteral {
        case key(String)
        /// Every element of an array.
        case each
        /// The first element of an array: the service's SDK looks at no other.
        case first
        /// Every member of an object, whose key is the id of the media.
        case eachMember
        /// Into the JSON that a string holds.
        case text
        /// Keys and array indices with dots between them; a key may hold dots itself, the longest that is there counts.
        case dotted([String])

        public init(stringLiteral key: String) { self = .key(key) }
    }

    public let steps: [Step]

    public init(arrayLiteral steps: Step...) { self.steps = steps }
    public init(_ steps: [Step]) { self.steps = steps }
}

/// How a service writes a type beside an address.
public enum TypeSpelling: Sendable, Hashable {
    /// Not at all.
    case none
    /// In any form; what is written back has the form of what was found: word, extension, MIME type or UTI.
    case any
    /// A file extension without a dot; the word that stands for a type that is not given, nil when it must be given.
    case fileExtension(standard: String?)
    /// Words of its own, always given: the first of a type is the one that is written.
    case words([TypeWord])
    /// Words of its own or a UTI, where anything is given at all.
    case wordsOrUTI([TypeWord])
}

/// A service's own word for a kind or a type.
public struct TypeWord: Sendable, Hashable {
    public let word: String
    public let kind: MediaKind
    /// The type it stands for; nil for every type of its kind.
    public let type: AttachmentType?

    public init(_ word: String, _ kind: MediaKind) {
        self.word = word
        self.kind = kind
        type = nil
    }

    public init(_ word: String, _ type: AttachmentType) {
        self.word = word
        kind = type.kind
        self.type = type
    }
}
