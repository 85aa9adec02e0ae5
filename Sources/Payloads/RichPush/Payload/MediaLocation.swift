/// A location at which a dialect writes media, with the fields that describe it.
public struct MediaLocation: Sendable, Hashable {
    /// A property of a media item.
    public enum Field: String, Sendable, Hashable, CaseIterable {
        case id, type, kind, name, bytes, fallbackURL
        case clippingRect, thumbnailTime, thumbnailHidden, typeHint
    }

    /// When other systems show the value at a location for iOS.
    public enum Sharing: Sendable, Hashable {
        /// Only iOS shows it.
        case none
        /// When the request names the other system.
        case whenNamed
        /// Always: the message reaches the app on every system.
        case always
    }

    /// The pattern of the address.
    public var address: PayloadPattern
    /// The patterns of the other fields; open steps match the same elements as in `address`.
    public var fields: [Field: PayloadPattern]
    /// Alternative patterns for fields, for services whose clients differ; the first that exists is used.
    public var otherFields: [[Field: PayloadPattern]]
    /// The pattern of the id of the item with the collapsed thumbnail; the thumbnails of other items are hidden.
    public var thumbnailID: PayloadPattern?
    /// Further values that belong to this item only, such as unknown options; removed with the item.
    public var companions: [PayloadPattern]
    /// Values that move when the fallback URL replaces the address.
    public var fallbackMoves: [FallbackMove]
    /// The text that replaces the alert's body when the media is removed.
    public var alternativeText: PayloadPattern?
    /// How the type is written.
    public var types: TypeNotation
    /// Keys that name a kind of media. When the kind changes, the key is renamed: `movie` becomes `image`.
    public var keys: [MediaKey]
    /// Whether an address that does not begin with `http` is a file in the app's bundle.
    public var namesLocalFiles: Bool
    /// The path of the APNs payload in the service's request; empty when the input is the APNs payload.
    public var root: PayloadPath
    /// Whether this is a request to the service's API without `aps`, from which the service builds the APNs payload.
    public var isRequest: Bool
    /// The system that shows the media.
    public var target = MediaTarget.ios
    /// The part that the media plays in the notification of the target.
    public var role = MediaTarget.Role.image
    /// When other systems show the same value.
    public var sharing = Sharing.none
    /// The path at which the media of a target is added when the payload has none for it.
    public var additions: [MediaTarget: PayloadPattern] = [:]
    /// Whether no system shows the value, although senders write it.
    public var isIgnored = false
    /// Whether the payload updates a Live Activity: it reaches the app's own views, without a service extension.
    public var isLiveActivity = false

    public init(
        _ address: PayloadPattern, _ fields: [Field: PayloadPattern] = [:], otherFields: [[Field: PayloadPattern]] = [],
        thumbnailID: PayloadPattern? = nil, companions: [PayloadPattern] = [], fallbackMoves: [FallbackMove] = [],
        alternativeText: PayloadPattern? = nil, types: TypeNotation = .none, keys: [MediaKey] = [],
        namesLocalFiles: Bool = false, root: PayloadPath = PayloadPath(), isRequest: Bool = false
    ) {
        self.address = address
        self.fields = fields
        self.otherFields = otherFields
        self.thumbnailID = thumbnailID
        self.companions = companions
        self.fallbackMoves = fallbackMoves
        self.alternativeText = alternativeText
        self.isRequest = isRequest
        self.types = types
        self.keys = keys
        self.namesLocalFiles = namesLocalFiles
        self.root = root
    }
}

extension MediaLocation {
    /// The same location for media that another system shows.
    func shown(on target: MediaTarget, as role: MediaTarget.Role = .image, isIgnored: Bool = false) -> MediaLocation {
        var copy = self
        (copy.target, copy.role, copy.isIgnored) = (target, role, isIgnored)
        return copy
    }

    /// The same location, whose value other systems show as well, with the paths that only one of them reads.
    func shared(_ sharing: Sharing, adding additions: [MediaTarget: PayloadPattern] = [:]) -> MediaLocation {
        var copy = self
        (copy.sharing, copy.additions) = (sharing, additions)
        return copy
    }

    /// The location inside an envelope.
    func inside(_ envelope: PayloadPath) -> MediaLocation {
        var copy = self
        copy.address = address.inside(envelope)
        copy.fields = fields.mapValues { $0.inside(envelope) }
        copy.otherFields = otherFields.map { $0.mapValues { $0.inside(envelope) } }
        copy.thumbnailID = thumbnailID?.inside(envelope)
        copy.companions = companions.map { $0.inside(envelope) }
        copy.fallbackMoves = fallbackMoves.map {
            FallbackMove(from: $0.from.inside(envelope), to: $0.to.inside(envelope))
        }
        copy.alternativeText = alternativeText?.inside(envelope)
        copy.additions = additions.mapValues { $0.inside(envelope) }
        copy.root = PayloadPath(envelope.steps + root.steps)
        return copy
    }
}

extension PayloadPattern {
    /// The pattern inside an envelope.
    func inside(_ envelope: PayloadPath) -> PayloadPattern {
        PayloadPattern(
            envelope.steps.compactMap { step in
                switch step {
                case .key(let key): .key(key)
                case .text: .text
                case .index: nil
                }
            } + steps)
    }
}

/// A value that moves to another path when the fallback URL is used.
public struct FallbackMove: Sendable, Hashable {
    public let from: PayloadPattern
    public let to: PayloadPattern

    public init(from: PayloadPattern, to: PayloadPattern) {
        self.from = from
        self.to = to
    }
}

/// The last key of an address, when it names a kind of media.
public struct MediaKey: Sendable, Hashable {
    public let key: String
    public let kind: MediaKind
    /// Whether the key is for GIFs only.
    public let isAnimation: Bool

    public init(_ key: String, _ kind: MediaKind, isAnimation: Bool = false) {
        self.key = key
        self.kind = kind
        self.isAnimation = isAnimation
    }
}
