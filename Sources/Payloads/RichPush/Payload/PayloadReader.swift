/// Finds the media of a payload.
public enum PayloadReader {
    /// Returns the media, by detecting the dialect or by the given one.
    ///
    /// Media of systems that the targets do not name is returned as well, so that it can be reported.
    ///
    /// - Parameters:
    ///   - payload: The payload, an object.
    ///   - dialect: Nil to use the first dialect of `PayloadDialect.all` that finds media.
    ///   - targets: The systems that media is prepared for.
    /// - Throws: `payload.invalid` when the payload is not an object, and `payload.no_media` when there is no media for
    ///   a target.
    public static func media(
        in payload: PayloadValue, dialect: PayloadDialect? = nil, targets: Set<MediaTarget> = [.ios]
    ) throws -> PayloadMedia {
        guard case .object = payload else {
            throw PayloadError(
                .payloadInvalid, "The payload is not an object; send one JSON object with aps in it.")
        }
        let media = [true, false].lazy.compactMap { isForIOS in
            firstMedia(in: payload, dialect, isForIOS: isForIOS)
        }.first
        guard let media else { throw MissingMedia.error(dialect, in: payload) }
        let wanted = media.targets(named: targets)
        if media.items.isEmpty, !media.otherItems.contains(where: { wanted.contains($0.location.target) }) {
            throw MissingMedia.error(otherItems: media.otherItems)
        }
        return media
    }

    /// Returns an alert without media, whose arrival can be counted all the same; nil when there is no alert.
    ///
    /// The alert is in `aps`, or FCM makes it of the `notification` of a message.
    public static func text(in payload: PayloadValue) -> PayloadMedia? {
        let root = PayloadEnvelope.roots.first { hasText(payload.value(at: $0)?["aps"]?["alert"]) }
        let message = PayloadEnvelope.messages.first { hasText(payload.value(at: $0)?["notification"]) }
        return (root ?? message.map { PayloadPath($0.steps + [.key("apns"), .key("payload")]) }).map {
            PayloadMedia(
                dialect: PayloadDialect("text", service: "An alert without media", locations: []), items: [], root: $0)
        }
    }

    private static func hasText(_ alert: PayloadValue?) -> Bool {
        alert?.string?.isEmpty == false || alert?.members?.contains { $0.value.string?.isEmpty == false } == true
    }

    /// The media at the first envelope that has any.
    ///
    /// - Parameter isForIOS: Whether only media that iOS shows counts, or that the dialect's only system shows.
    private static func firstMedia(in payload: PayloadValue, _ dialect: PayloadDialect?, isForIOS: Bool)
        -> PayloadMedia?
    {
        for (index, root) in PayloadEnvelope.roots.enumerated() {
            guard let (inner, dialect, reading) = reading(of: payload, at: root, dialect), !isForIOS || reading.isForIOS
            else { continue }
            let later = PayloadEnvelope.roots[(index + 1)...].filter { $0 != PayloadEnvelope.sandbox(of: root) }
            let placed = root.steps.isEmpty ? reading : DialectMedia(dialect.inside(root), in: payload)
            let known = Set((placed.items + placed.otherItems).map(\.path))
            let others =
                OtherMedia.warnings(in: inner, besides: reading.items, of: dialect, at: root)
                + OtherMedia.warnings(in: payload, envelopes: later, besides: known) {
                    detected(in: $0)?.1.items ?? []
                }
            var media = PayloadMedia(
                dialect: dialect.inside(root), items: placed.items, otherItems: placed.otherItems,
                warnings: placed.warnings + others,
                root: (placed.items.first ?? placed.otherItems.first)?.location.root ?? root)
            media.addItems(of: PayloadDialect.besides(media), in: payload)
            return media
        }
        return nil
    }

    /// Returns the media of the same message for Apple's sandbox environment; nil when there is none.
    ///
    /// Amazon SNS messages contain a payload for each environment.
    ///
    /// - Parameters:
    ///   - media: The media that `media(in:dialect:)` returned.
    ///   - payload: The same payload.
    ///   - dialect: Nil to detect it.
    public static func sandboxMedia(
        besides media: PayloadMedia, in payload: PayloadValue, dialect: PayloadDialect? = nil
    ) -> PayloadMedia? {
        guard let root = PayloadEnvelope.sandbox(of: media.root),
            let (_, dialect, _) = reading(of: payload, at: root, dialect)
        else { return nil }
        let placed = DialectMedia(dialect.inside(root), in: payload)
        return PayloadMedia(
            dialect: dialect.inside(root), items: placed.items, warnings: placed.warnings, root: root)
    }

    private static func reading(
        of payload: PayloadValue, at root: PayloadPath, _ dialect: PayloadDialect?
    ) -> (inner: PayloadValue, dialect: PayloadDialect, reading: DialectMedia)? {
        guard let inner = payload.value(at: root), inner.members != nil,
            let (dialect, reading) = dialect.map({ read([$0], in: inner) }) ?? detected(in: inner)
        else { return nil }
        return (inner, dialect, reading)
    }

    /// Tries dialects with a matching mark, or without marks, first; prefers one with URLs or files.
    private static func detected(in payload: PayloadValue) -> (PayloadDialect, DialectMedia)? {
        let dialects = PayloadDialect.all.filter { $0.isPossible(in: payload) }
        let isMarked = dialects.map { $0.isMarked(in: payload) }
        let order = dialects.indices.filter { isMarked[$0] } + dialects.indices.filter { !isMarked[$0] }
        return read(order.map { dialects[$0] }, in: payload)
    }

    /// The first dialect with a URL or a file, else with other text at a location, else with media of other systems.
    private static func read(
        _ dialects: [PayloadDialect], in payload: PayloadValue
    ) -> (PayloadDialect, DialectMedia)? {
        var (second, third): ((PayloadDialect, DialectMedia)?, (PayloadDialect, DialectMedia)?)
        for dialect in dialects {
            let reading = DialectMedia(dialect, in: payload)
            if reading.isUsable { return (dialect, reading) }
            if second == nil, !reading.items.isEmpty { second = (dialect, reading) }
            if third == nil, !reading.otherItems.isEmpty { third = (dialect, reading) }
        }
        return second ?? third
    }
}

extension DialectMedia {
    /// Whether there is media for iOS, or for the only system of the dialect.
    fileprivate var isForIOS: Bool { isUsable || !items.isEmpty }
}

extension PayloadMedia {
    /// Adds the media of other systems that further dialects find.
    fileprivate mutating func addItems(of dialects: [PayloadDialect], in payload: PayloadValue) {
        for dialect in dialects {
            let known = Set((items + otherItems).map(\.path))
            otherItems += DialectMedia(dialect, in: payload).otherItems.filter { !known.contains($0.path) }
        }
    }
}

/// The errors for a payload without media that can be prepared: what to do first, then the reason.
private enum MissingMedia {
    /// - Parameter dialect: The requested dialect; nil when all were tried.
    static func error(_ dialect: PayloadDialect?, in payload: PayloadValue) -> PayloadError {
        if let error = withoutID(in: payload) { return error }
        let key = MediaURLSearch.mediaKey(in: payload).map { PrintableText.path(PayloadPath([.key($0)])) }
        let remedy = key.map { "\($0), where the payload has a URL" }
        func error(_ rest: String) -> PayloadError {
            PayloadError(.payloadNoMedia, remedy: PayloadRemedy(.mediaKey, rest))
        }
        guard let dialect else {
            return error(
                "\(remedy ?? "a.b.c of a URL, or the dialect"): there is no media at the keys of a known service "
                    + "(\(PayloadDialect.knownNames)).")
        }
        if dialect.name == PayloadDialect.customName {
            return error(
                "\(remedy ?? "a.b.c of a URL, with dots between the keys"): \(dialect.service) has no media.")
        }
        let locations = dialect.locations.prefix(3).map(\.address.displayName).joined(separator: ", ")
        return error(
            "\(remedy ?? "a.b.c of a URL"), or leave the dialect out to search all dialects: the payload has no media "
                + "at the keys of \(dialect.name) (\(locations)).")
    }

    /// The error for a payload with media only of systems that the request does not name.
    static func error(otherItems: [PayloadMediaItem]) -> PayloadError {
        let targets = MediaTarget.allCases.filter { target in otherItems.contains { $0.location.target == target } }
        let names = targets.map(\.rawValue).joined(separator: ",")
        let paths = otherItems.prefix(3).map { PrintableText.path($0.path) }.joined(separator: ", ")
        return PayloadError(
            .payloadNoMedia,
            remedy: PayloadRemedy(
                .targets, "\(names) to have \(paths) prepared: the payload has no media for iOS."))
    }

    /// The error for a URL where a service expects an object of ids and URLs, such as OneSignal's `ios_attachments`.
    private static func withoutID(in payload: PayloadValue) -> PayloadError? {
        for dialect in PayloadDialect.all {
            for location in dialect.locations where location.address.steps.last == .eachMember {
                let object = PayloadPattern(location.address.steps.dropLast())
                let match = object.matches(in: payload, countMax: 1) { match in
                    match.value.string.map { MediaAddress.read($0, namesLocalFiles: false) != nil } ?? false
                }.first
                guard let match else { continue }
                return PayloadError(
                    .payloadNoMedia,
                    "\(PrintableText.path(match.path)) is a URL, but \(dialect.service) expects an object there; write "
                        + "{\"id\": \"https://…\"}, with an id of your choice for each media item.")
            }
        }
        return nil
    }
}

extension PayloadDialect {
    /// Whether the dialect has no marks, or one of them matches.
    fileprivate func isMarked(in payload: PayloadValue) -> Bool {
        marks.isEmpty || marks.contains { $0.matches(in: payload) }
    }

    /// Whether the payload has what every payload of the service has, and nothing that none of them has.
    fileprivate func isPossible(in payload: PayloadValue) -> Bool {
        required.allSatisfy { $0.matches(in: payload) }
            && !excluded.contains { !$0.matches(in: payload, countMax: 1).isEmpty }
    }
}

extension DialectMark {
    fileprivate func matches(in payload: PayloadValue) -> Bool {
        !pattern.matches(in: payload, countMax: 1) { match in
            prefix.map { match.value.string?.hasPrefix($0) ?? false } ?? true
        }.isEmpty
    }
}

extension PayloadPattern {
    /// The form in messages: `_wp.attachments[].url`.
    package var displayName: String { PrintableText.path(PayloadPath([.key(description)])) }
}

/// The envelopes in which services expect an APNs payload.
package enum PayloadEnvelope {
    /// The paths of the APNs payload: no envelope, FCM's HTTP API with and without `message`, Amazon SNS for both of
    /// Apple's environments, Pusher Beams (`apns`).
    package static let roots: [PayloadPath] = [
        PayloadPath(), PayloadPath([.key("message"), .key("apns"), .key("payload")]),
        PayloadPath([.key("apns"), .key("payload")]), PayloadPath([.key("APNS"), .text]),
        PayloadPath([.key("APNS_SANDBOX"), .text]), PayloadPath([.key("apns")]),
    ]

    /// The paths of a message to FCM.
    static let messages = [PayloadPath([.key("message")]), PayloadPath()]

    /// The path of the same message for Apple's sandbox environment; nil for other envelopes.
    package static func sandbox(of root: PayloadPath) -> PayloadPath? {
        root == PayloadPath([.key("APNS"), .text]) ? PayloadPath([.key("APNS_SANDBOX"), .text]) : nil
    }
}

extension PayloadDialect {
    /// The dialect with its paths inside an envelope.
    func inside(_ root: PayloadPath) -> PayloadDialect {
        root.steps.isEmpty
            ? self
            : PayloadDialect(
                name, service: service, choice: choice,
                marks: marks.map { DialectMark($0.pattern.inside(root), prefix: $0.prefix) },
                required: required.map { DialectMark($0.pattern.inside(root), prefix: $0.prefix) },
                excluded: excluded.map { $0.inside(root) }, attachmentTypes: attachmentTypes,
                locations: locations.map { $0.inside(root) })
    }
}

/// Warns about media of other dialects, which is not changed.
enum OtherMedia {
    /// A warning for each URL that another dialect finds, except at locations of the detected dialect.
    static func warnings(
        in payload: PayloadValue, besides items: [PayloadMediaItem], of dialect: PayloadDialect, at root: PayloadPath
    ) -> [PayloadWarning] {
        var seen = ownPaths(of: dialect, in: payload).union(items.map(\.path))
        var warnings: [PayloadWarning] = []
        for other in PayloadDialect.all where other.name != dialect.name {
            for item in DialectMedia(other, in: payload).items where isURL(item) && seen.insert(item.path).inserted {
                guard warnings.count < Limits.payloadOtherMediaMax else { return warnings }
                let location = PrintableText.path(PayloadPath(root.steps + item.path.steps))
                warnings.append(
                    PayloadWarning(
                        .otherMedia,
                        "\(location) has further media, in the form of \(other.name), which is not changed; remove "
                            + "it, or set the dialect \(other.name) to use it instead."))
            }
        }
        return warnings
    }

    /// A warning for each further envelope with media: a message may contain payloads for several services.
    ///
    /// - Parameter known: The paths of the media that was found, from the top of the input.
    static func warnings(
        in payload: PayloadValue, envelopes roots: [PayloadPath], besides known: Set<PayloadPath>,
        reading: (PayloadValue) -> [PayloadMediaItem]
    ) -> [PayloadWarning] {
        roots.compactMap { root in
            guard let inner = payload.value(at: root), inner.members != nil,
                let item = reading(inner).first(where: {
                    isURL($0) && !known.contains(PayloadPath(root.steps + $0.path.steps))
                })
            else { return nil }
            return PayloadWarning(
                .otherMedia,
                "\(PrintableText.path(PayloadPath(root.steps + item.path.steps))) has further media, which is not "
                    + "changed; send one payload at a time to have each prepared.")
        }
    }

    private static func isURL(_ item: PayloadMediaItem) -> Bool {
        if case .url = item.address { true } else { false }
    }

    /// All paths at which the dialect may have media, including fallback URLs.
    private static func ownPaths(of dialect: PayloadDialect, in payload: PayloadValue) -> Set<PayloadPath> {
        let patterns = dialect.locations.flatMap { location in
            [location.address.withAllElements, location.fields[.fallbackURL]].compactMap(\.self)
        }
        return Set(patterns.flatMap { $0.matches(in: payload, countMax: countMax).map(\.path) })
    }

    /// The maximum number of paths per pattern, far more than any service writes; later ones may cause a warning.
    private static let countMax = 1_000
}

extension PayloadPattern {
    /// The pattern with all elements of arrays of which the service reads only the first.
    fileprivate var withAllElements: PayloadPattern { PayloadPattern(steps.map { $0 == .first ? .each : $0 }) }
}

extension Limits {
    /// Warnings about further media of one payload.
    static let payloadOtherMediaMax = 10
}
