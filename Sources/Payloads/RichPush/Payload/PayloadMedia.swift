/// The media found in a payload.
public struct PayloadMedia: Sendable, Hashable {
    public var dialect: PayloadDialect
    /// The media that iOS shows, in the order of the payload; the first is shown.
    public var items: [PayloadMediaItem]
    /// The media that other systems show, and avatars.
    public var otherItems: [PayloadMediaItem]
    /// Warnings about the media and its options.
    public var warnings: [PayloadWarning]
    /// The path of the APNs payload in the input.
    public var root: PayloadPath

    /// Without a `root`, it is that of the first item's location.
    public init(
        dialect: PayloadDialect, items: [PayloadMediaItem], otherItems: [PayloadMediaItem] = [],
        warnings: [PayloadWarning] = [], root: PayloadPath? = nil
    ) {
        self.dialect = dialect
        self.items = items
        self.otherItems = otherItems
        self.warnings = warnings
        self.root = root ?? items.first?.location.root ?? PayloadPath()
    }

    /// The targets that media is prepared for: those that a request names, and the only one of the dialect.
    ///
    /// Web push JSON is read by no other system, so that a request need not name `web` for it.
    public func targets(named: Set<MediaTarget>) -> Set<MediaTarget> {
        dialect.onlyTarget.map { named.union([$0]) } ?? named
    }

    /// Whether the payload is an alert without media.
    public var isTextOnly: Bool { items.isEmpty && otherItems.isEmpty }
    /// Whether the payload updates a Live Activity.
    public var isLiveActivity: Bool { items.first?.location.isLiveActivity == true }
    /// Whether the payload is a web push message, which a browser receives as it is.
    public var isWebPush: Bool { dialect.onlyTarget == .web }
}

extension PayloadDialect {
    /// The target of all locations when iOS is not among them; nil otherwise.
    public var onlyTarget: MediaTarget? {
        guard let first = locations.first?.target, first != .ios else { return nil }
        return locations.allSatisfy { $0.target == first } ? first : nil
    }
}

/// A media item of a payload: its address, path, declared type and options.
public struct PayloadMediaItem: Sendable, Hashable {
    public enum Address: Sendable, Hashable {
        /// An http or https URL.
        case url(String)
        /// A file in the app's bundle.
        case file(String)
        /// An address that only the app or its server can complete: `/api/camera`, `item:Camera`.
        case other(String)
    }

    public var address: Address
    /// The URL to use when the address fails.
    public var fallbackURL: String?
    /// The path of the address.
    public var path: PayloadPath
    /// The paths of the other fields that exist.
    public var fields: [MediaLocation.Field: PayloadPath]
    /// The location in the dialect at which the item was found.
    public var location: MediaLocation
    /// The id that the payload gives to the item.
    public var id: String?
    /// The declared type, as written in the payload.
    public var declaredType: String?
    public var options: PayloadMediaOptions

    public init(address: Address, path: PayloadPath, location: MediaLocation) {
        self.address = address
        self.path = path
        self.location = location
        fields = [:]
        options = PayloadMediaOptions()
    }
}

/// The attachment options in a payload; nil when not given.
public struct PayloadMediaOptions: Sendable, Hashable {
    public var clippingRect: ClippingRect?
    /// Seconds for a movie, frame number for an animation.
    public var thumbnailTime: Double?
    public var thumbnailHidden: Bool?

    public init() {}
}

/// The media that one dialect finds in a payload.
struct DialectMedia {
    /// The media that iOS shows.
    var items: [PayloadMediaItem] = []
    /// The media that other systems show.
    var otherItems: [PayloadMediaItem] = []
    var warnings: [PayloadWarning] = []

    /// Whether an item of iOS, or of the only system of the dialect, has a URL or a file of the app's bundle.
    private(set) var isUsable = false

    init(_ dialect: PayloadDialect, in top: PayloadValue) {
        for location in dialect.locations {
            if location.target != .ios {
                read(location, in: top, into: \.otherItems)
            } else if dialect.choice == .allLocations || items.isEmpty {
                read(location, in: top, into: \.items)
            } else if location.sharing == .always {
                read(location.shown(on: .android), in: top, into: \.otherItems)
            }
        }
        isUsable = (dialect.onlyTarget == nil ? items : otherItems).contains { item in
            if case .other = item.address { false } else { true }
        }
        otherItems.removeLast(max(0, otherItems.count - Limits.payloadMediaMax))
        guard items.count > Limits.payloadMediaMax else { return }
        items.removeLast(items.count - Limits.payloadMediaMax)
        warnings.append(
            PayloadWarning(
                .otherMedia,
                "The payload has more than \(Limits.payloadMediaMax) media items; only the first "
                    + "\(Limits.payloadMediaMax) are used, and a notification shows one; remove the others."))
    }

    private mutating func read(
        _ location: MediaLocation, in top: PayloadValue, into list: WritableKeyPath<DialectMedia, [PayloadMediaItem]>
    ) {
        let matches = location.address.matches(in: top, countMax: Limits.payloadMediaMax + 1) { match in
            match.value.string.map { MediaAddress.read($0, namesLocalFiles: location.namesLocalFiles) != nil } ?? false
        }
        var found = matches.compactMap { item($0, location: location, in: top) }
        hideOthers(&found, location: location, in: top)
        self[keyPath: list] += found
    }

    private mutating func item(_ match: PatternMatch, location: MediaLocation, in top: PayloadValue)
        -> PayloadMediaItem?
    {
        guard let written = match.value.string,
            let address = MediaAddress.read(written, namesLocalFiles: location.namesLocalFiles)
        else { return nil }
        var item = PayloadMediaItem(address: address, path: match.path, location: location)
        item.fields = fields(location, match: match, in: top)
        item.id = identifier(item, match: match, in: top)
        if let fallback = text(of: .fallbackURL, item, in: top),
            case .url(let url) = MediaAddress.read(fallback, namesLocalFiles: false)
        {
            item.fallbackURL = url
        }
        item.declaredType = text(of: .type, item, in: top)
        let read = ParsedMediaOptions(item.fields, in: top)
        item.options = read.options
        for warning in read.warnings where !warnings.contains(warning) { warnings.append(warning) }
        if case .other(let other) = address, location.target == .ios {
            warnings.append(Self.notFetched(other, path: item.path))
        }
        return item
    }

    /// The text of a field; nil when it is missing or only whitespace.
    private func text(
        of field: MediaLocation.Field, _ item: PayloadMediaItem, in top: PayloadValue
    ) -> String? {
        guard let text = item.fields[field].flatMap({ top.value(at: $0)?.string }) else { return nil }
        return PrintableText.trimmed(text).isEmpty ? nil : text
    }

    /// The paths of the existing fields, each at the first of its locations.
    private func fields(
        _ location: MediaLocation, match: PatternMatch, in top: PayloadValue
    ) -> [MediaLocation.Field: PayloadPath] {
        ([location.fields] + location.otherFields).reduce(into: [:]) { found, fields in
            for (field, pattern) in fields where found[field] == nil {
                let path = pattern.path(choosing: match.choices)
                if top.value(at: path) != nil { found[field] = path }
            }
        }
    }

    private func identifier(_ item: PayloadMediaItem, match: PatternMatch, in top: PayloadValue) -> String? {
        if case .eachMember = item.location.address.steps.last, case .key(let key) = match.path.steps.last {
            return key
        }
        switch item.fields[.id].flatMap({ top.value(at: $0) }) {
        case .string(let id) where !id.isEmpty: return id
        case .number(let id): return id
        default: return nil
        }
    }

    /// When the payload selects one item for the collapsed thumbnail, hides the thumbnails of the others.
    private mutating func hideOthers(_ found: inout [PayloadMediaItem], location: MediaLocation, in top: PayloadValue) {
        guard found.count > 1, let pattern = location.thumbnailID,
            case .string(let id) = top.value(at: pattern.path(choosing: []))
        else { return }
        guard found.contains(where: { $0.id == id }) else {
            let path = PrintableText.path(pattern.path(choosing: []))
            warnings.append(
                PayloadWarning(
                    .optionInvalid,
                    "\(path) is not the id of a media item and is ignored; write the id of one of them."))
            return
        }
        for index in found.indices where found[index].id != id {
            found[index].options.thumbnailHidden = true
        }
    }

    private static func notFetched(_ address: String, path: PayloadPath) -> PayloadWarning {
        let remedy =
            address.hasPrefix("//")
            ? "an app cannot fetch a URL without a scheme, so write https: before it"
            : "only the app or its server can complete it, so write a complete https URL to have the media prepared"
        return PayloadWarning(
            .addressNotFetched,
            "\(PrintableText.path(path)) is neither an http nor an https URL and is not changed; \(remedy).")
    }
}

/// Parses the attachment options of a payload; an invalid option becomes a warning.
struct ParsedMediaOptions {
    var options = PayloadMediaOptions()
    var warnings: [PayloadWarning] = []

    init(_ fields: [MediaLocation.Field: PayloadPath], in top: PayloadValue) {
        read(fields[.clippingRect], in: top, reading: Self.clippingRect) { $0.clippingRect = $1 }
        read(fields[.thumbnailTime], in: top, reading: Self.time) { $0.thumbnailTime = $1 }
        read(fields[.thumbnailHidden], in: top, reading: Self.hidden) { $0.thumbnailHidden = $1 }
        for field in [MediaLocation.Field.type, .typeHint] {
            read(fields[field], in: top, reading: Self.text) { _, _ in }
        }
    }

    private mutating func read<Option>(
        _ path: PayloadPath?, in top: PayloadValue, reading: (PayloadValue) -> ParsedOption<Option>,
        _ set: (inout PayloadMediaOptions, Option) -> Void
    ) {
        guard let path, let value = top.value(at: path), value != .null, value != .string("") else { return }
        switch reading(value) {
        case .value(let option): set(&options, option)
        case .invalid(let why, let remedy):
            warnings.append(
                PayloadWarning(
                    .optionInvalid, "\(PrintableText.path(path)) \(why) and is ignored; write \(remedy)."))
        }
    }

    private enum ParsedOption<Option> {
        case value(Option)
        /// The reason, and what to write instead.
        case invalid(String, String)
    }

    private static func text(_ value: PayloadValue) -> ParsedOption<String> {
        value.string.map { .value($0) } ?? .invalid("is not a string", "a string, or leave it out")
    }

    private static func clippingRect(_ value: PayloadValue) -> ParsedOption<ClippingRect> {
        let remedy = "x, y, width and height as fractions of the image, x+width and y+height at most 1"
        // Some clients encode options as JSON in strings.
        let object = value.members == nil ? value.embeddedJSON ?? value : value
        guard object.members != nil else { return .invalid("is not a rectangle", remedy) }
        let sides = ["x", "y", "width", "height"].map { key in
            (object[key] ?? object[key.prefix(1).uppercased() + key.dropFirst()]).flatMap(number)
        }
        guard let x = sides[0], let y = sides[1], let width = sides[2], let height = sides[3] else {
            return .invalid("does not have all four numbers", remedy)
        }
        guard let rect = try? ClippingRect(x: x, y: y, width: width, height: height) else {
            return .invalid("is not inside the image", remedy)
        }
        return .value(rect)
    }

    private static func time(_ value: PayloadValue) -> ParsedOption<Double> {
        let remedy = "seconds of a movie or the frame number of an animation, 0 or more"
        guard let time = number(value) ?? movieTime(value) else { return .invalid("is not a time", remedy) }
        guard (0...Limits.payloadThumbnailTimeMax).contains(time) else { return .invalid("is out of range", remedy) }
        return .value(time + 0)
    }

    /// The seconds of a CMTime dictionary.
    private static func movieTime(_ value: PayloadValue) -> Double? {
        guard let ticks = value["value"].flatMap(number), let scale = value["timescale"].flatMap(number), scale > 0
        else { return nil }
        let seconds = ticks / scale
        return seconds.isFinite ? seconds : nil
    }

    private static func hidden(_ value: PayloadValue) -> ParsedOption<Bool> {
        switch value {
        case .bool(let hidden): return .value(hidden)
        case .number where value.double == 0: return .value(false)
        case .number where value.double == 1: return .value(true)
        case .string(let text):
            if ["true", "1", "yes"].contains(text.lowercased()) { return .value(true) }
            if ["false", "0", "no"].contains(text.lowercased()) { return .value(false) }
        default: break
        }
        return .invalid("is neither true nor false", "true or false")
    }

    /// The number, also from a string, since some clients write all options as strings.
    private static func number(_ value: PayloadValue) -> Double? {
        if let number = value.double { return number }
        guard let text = value.string, let number = Double(text), number.isFinite else { return nil }
        return number
    }
}

extension Limits {
    /// Media items of one payload: a notification shows one, a carousel has ten.
    package static let payloadMediaMax = 10
    /// A thumbnail time in a payload, in seconds or frames: a day is far beyond any attachable movie.
    static let payloadThumbnailTimeMax = 86_400.0
}
