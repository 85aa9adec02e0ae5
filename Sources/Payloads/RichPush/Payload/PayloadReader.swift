/// Finds the media of a payload.
public enum PayloadReader {
    /// Returns the media, by detecting the dialect or by the given one.
    ///
    /// - Parameters:
    ///   - payload: The payload, an object.
    ///   - dialect: Nil to use the first dialect of `PayloadDialect.all` that finds media.
    /// - Throws: `payload.invalid` when the payload is not an object, and `payload.no_media` when no media is found.
    public static func media(in payload: PayloadValue, dialect: PayloadDialect? = nil) throws -> PayloadMedia {
        guard case .object = payload else {
            throw PayloadError(
                .payloadInvalid, "The payload is not an object; send one JSON object with aps in it.")
        }
        for (index, root) in PayloadEnvelope.roots.enumerated() {
            guard let (inner, dialect, reading) = found(in: payload, at: root, dialect) else { continue }
            let later = PayloadEnvelope.roots[(index + 1)...].filter { $0 != PayloadEnvelope.sandbox(of: root) }
            let placed = root.steps.isEmpty ? reading : DialectMedia(dialect.inside(root), in: payload)
            let known = Set(placed.items.map(\.path))
            let others =
                OtherMedia.warnings(in: inner, besides: reading.items, of: dialect, at: root)
                + OtherMedia.warnings(in: payload, envelopes: later, besides: known) {
                    detected(in: $0)?.1.items ?? []
                }
            return PayloadMedia(
                dialect: dialect.inside(root), items: placed.items, warnings: placed.warnings + others)
        }
        throw noMedia(dialect, in: payload)
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
            let (_, dialect, _) = found(in: payload, at: root, dialect)
        else { return nil }
        let placed = DialectMedia(dialect.inside(root), in: payload)
        return PayloadMedia(dialect: dialect.inside(root), items: placed.items, warnings: placed.warnings)
    }

    private static func found(
        in payload: PayloadValue, at root: PayloadPath, _ dialect: PayloadDialect?
    ) -> (inner: PayloadValue, dialect: PayloadDialect, reading: DialectMedia)? {
        guard let inner = payload.value(at: root), inner.members != nil,
            let (dialect, reading) = dialect.map({ read([$0], in: inner) }) ?? detected(in: inner)
        else { return nil }
        return (inner, dialect, reading)
    }

    /// Tries dialects with a matching mark, or without marks, first; prefers one with URLs or files.
    private static func detected(in payload: PayloadValue) -> (PayloadDialect, DialectMedia)? {
        let dialects = PayloadDialect.all
        let isMarked = dialects.map { $0.isMarked(in: payload) }
        let order = dialects.indices.filter { isMarked[$0] } + dialects.indices.filter { !isMarked[$0] }
        return read(order.map { dialects[$0] }, in: payload)
    }

    private static func read(
        _ dialects: [PayloadDialect], in payload: PayloadValue
    ) -> (PayloadDialect, DialectMedia)? {
        var second: (PayloadDialect, DialectMedia)?
        for dialect in dialects {
            let reading = DialectMedia(dialect, in: payload)
            if reading.isUsable { return (dialect, reading) }
            if second == nil, !reading.items.isEmpty { second = (dialect, reading) }
        }
        return second
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

    private static func noMedia(_ dialect: PayloadDialect?, in payload: PayloadValue) -> PayloadError {
        if let error = withoutID(in: payload) { return error }
        let stray = UnrecognizedMediaURL.mediaKey(in: payload).map { PrintableText.path(PayloadPath([.key($0)])) }
        let found = stray.map { "; there is a URL at \($0): to use it, set the media key \($0)" }
        guard let dialect else {
            return PayloadError(
                .payloadNoMedia,
                "The payload has no media at the keys of a known service\(found ?? ""); set the media key, as in "
                    + "a.b.c, or the dialect (\(PayloadDialect.knownNames)).")
        }
        if dialect.name == PayloadDialect.customName {
            let remedy = found ?? "; write the path of keys to the URL, separated by dots"
            return PayloadError(.payloadNoMedia, "\(dialect.service) has no media\(remedy).")
        }
        let locations = dialect.locations.prefix(3).map(\.address.displayName).joined(separator: ", ")
        return PayloadError(
            .payloadNoMedia,
            "The payload has no media at the keys of \(dialect.name) (\(locations))\(found ?? ""); leave the dialect "
                + "out to search all dialects, or set the media key, as in a.b.c.")
    }
}

extension PayloadDialect {
    /// Whether the dialect has no marks, or one of them matches.
    fileprivate func isMarked(in payload: PayloadValue) -> Bool {
        marks.isEmpty
            || marks.contains { mark in
                !mark.pattern.matches(in: payload, countMax: 1) { match in
                    mark.prefix.map { match.value.string?.hasPrefix($0) ?? false } ?? true
                }.isEmpty
            }
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
                attachmentTypes: attachmentTypes,
                locations: locations.map { $0.inside(root) })
    }
}

extension MediaLocation {
    fileprivate func inside(_ envelope: PayloadPath) -> MediaLocation {
        MediaLocation(
            address.inside(envelope), fields.mapValues { $0.inside(envelope) },
            otherFields: otherFields.map { $0.mapValues { $0.inside(envelope) } },
            thumbnailID: thumbnailID?.inside(envelope),
            companions: companions.map { $0.inside(envelope) },
            fallbackMoves: fallbackMoves.map {
                FallbackMove(from: $0.from.inside(envelope), to: $0.to.inside(envelope))
            }, types: types, keys: keys, namesLocalFiles: namesLocalFiles,
            root: PayloadPath(envelope.steps + root.steps), isRequest: isRequest)
    }
}

extension PayloadPattern {
    fileprivate func inside(_ envelope: PayloadPath) -> PayloadPattern {
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

/// Finds a media URL that no dialect reads, to suggest it as media key.
enum UnrecognizedMediaURL {
    /// The media key of the first URL, searched breadth first; nil when there is none.
    static func mediaKey(in payload: PayloadValue) -> String? {
        var level: [(path: PayloadPath, value: PayloadValue)] = [(PayloadPath(), payload)]
        var visited = 0
        for _ in 0..<depthMax where !level.isEmpty {
            var next: [(path: PayloadPath, value: PayloadValue)] = []
            for (path, value) in level {
                visited += 1
                guard visited <= valuesMax else { return nil }
                if let text = value.string, isMedia(text) { return path.description }
                next += children(of: value, at: path)
            }
            level = next
        }
        return nil
    }

    private static func children(
        of value: PayloadValue, at path: PayloadPath
    ) -> [(path: PayloadPath, value: PayloadValue)] {
        switch value {
        case .object(let members):
            // The neutral object is written by attachprep itself.
            members.prefix(valuesMax).filter { $0.key != "attachprep" }.map { (path.appending(.key($0.key)), $0.value) }
        case .array(let elements):
            elements.prefix(valuesMax).enumerated().map { (path.appending(.index($0)), $1) }
        default: []
        }
    }

    private static func isMedia(_ text: String) -> Bool {
        guard case .url(let url) = MediaAddress.read(text, namesLocalFiles: false),
            let ending = MediaAddress.fileExtension(of: url)
        else { return false }
        return MediaTypeNames.extensions[ending] != nil && !MediaTypeNames.nonExtensionNames.contains(ending)
    }

    /// The number of levels searched; payloads have a handful.
    private static let depthMax = 16
    /// The number of values searched; a payload of 4,096 bytes has a few hundred.
    private static let valuesMax = 2_000
}

extension Limits {
    /// Warnings about further media of one payload.
    static let payloadOtherMediaMax = 10
}
