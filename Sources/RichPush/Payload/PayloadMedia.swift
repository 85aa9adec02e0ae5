/// The media that was found in a payload.
public struct PayloadMedia: Sendable, Hashable {
    public var dialect: PayloadDialect
    /// In the order of the payload; the first is the one that is shown.
    public var items: [PayloadMediaItem]
    /// What was seen on the way.
    public var warnings: [PayloadWarning]

    public init(dialect: PayloadDialect, items: [PayloadMediaItem], warnings: [PayloadWarning] = []) {
        self.dialect = dialect
        self.items = items
        self.warnings = warnings
    }

    /// Where the APNs payload begins in what was handed over.
    public var root: PayloadPath { items.first?.place.root ?? PayloadPath() }
}

/// One piece of media in a payload: where its address stands, and what is said of it.
public struct PayloadMediaItem: Sendable, Hashable {
    public enum Address: Sendable, Hashable {
        /// http or https.
        case url(String)
        /// A file that the app brings along.
        case file(String)
        /// What only the app or its server can complete: `/api/camera`, `item:Camera`.
        case other(String)
    }

    public var address: Address
    /// What takes the address's place when it fails.
    public var fallbackURL: String?
    /// Where the address stands.
    public var path: PayloadPath
    /// Where the rest stands; only what is there.
    public var fields: [MediaPlace.Field: PayloadPath]
    /// The row that found it.
    public var place: MediaPlace
    /// The payload's own name for it.
    public var id: String?
    /// The type that the payload gives, as it is written there.
    public var declaredType: String?
    public var options: PayloadMediaOptions

    public init(address: Address, path: PayloadPath, place: MediaPlace) {
        self.address = address
        self.path = path
        self.place = place
        fields = [:]
        options = PayloadMediaOptions()
    }
}

/// What a payload asks of an attachment; nil where it says nothing.
public struct PayloadMediaOptions: Sendable, Hashable {
    public var clippingRect: ClippingRect?
    /// Seconds of a movie, frame number of an animation.
    public var thumbnailTime: Double?
    public var thumbnailHidden: Bool?

    public init() {}
}
