/// Finds the media of a payload.
public enum PayloadReader {
    /// The media, by the rows of `PayloadDialect.all` in their order, or by one dialect alone.
    ///
    /// - Parameter dialect: nil to find out; the first row that has media counts.
    ///
    /// Throws `payload.invalid` for what is no object, and `payload.no_media` when there is none.
    public static func media(in payload: PayloadValue, dialect: PayloadDialect? = nil) throws -> PayloadMedia {
        guard case .object = payload else {
            throw AttachPrepError(
                .payloadInvalid, "The payload is not an object; hand over one JSON object with aps in it.")
        }
        for (place, root) in PayloadEnvelope.roots.enumerated() {
            guard let (inner, dialect, reading) = found(in: payload, at: root, dialect) else { continue }
            let later = PayloadEnvelope.roots[(place + 1)...].filter { $0 != PayloadEnvelope.sandbox(of: root) }
            let placed = root.steps.isEmpty ? reading : MediaReading(dialect.inside(root), in: payload)
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

    /// The media of the same message for Apple's other environment, as Amazon SNS is sent both; nil when there is none.
    ///
    /// - Parameter dialect: nil to find out.
    public static func sandboxMedia(
        besides media: PayloadMedia, in payload: PayloadValue, dialect: PayloadDialect? = nil
    ) -> PayloadMedia? {
        guard let root = PayloadEnvelope.sandbox(of: media.root),
            let (_, dialect, _) = found(in: payload, at: root, dialect)
        else { return nil }
        let placed = MediaReading(dialect.inside(root), in: payload)
        return PayloadMedia(dialect: dialect.inside(root), items: placed.items, warnings: placed.warnings)
    }

    private static func found(
        in payload: PayloadValue, at root: PayloadPath, _ dialect: PayloadDialect?
    ) -> (inner: PayloadValue, dialect: PayloadDialect, reading: MediaReading)? {
        guard let inner = payload.standing(at: root), inner.members != nil,
            let (dialect, reading) = dialect.map({ read([$0], in: inner) }) ?? detected(in: inner)
        else { return nil }
        return (inner, dialect, reading)
    }

    /// Rows that share keys with others come last unless they are marked; media comes before what is no address.
    private static func detected(in payload: PayloadValue) -> (PayloadDialect, MediaReading)? {
        let dialects = PayloadDialect.all
        let isMarked = dialects.map { $0.isMarked(in: payload) }
        let order = dialects.indices.filter { isMarked[$0] } + dialects.indices.filter { !isMarked[$0] }
        return read(order.map { dialects[$0] }, in: payload)
    }

    private static func read(
        _ dialects: [PayloadDialect], in payload: PayloadValue
    ) -> (PayloadDialect, MediaReading)? {
        var second: (PayloadDialect, MediaReading)?
        for dialect in dialects {
            let reading = MediaReading(dialect, in: payload)
            if reading.isUsable { return (dialect, reading) }
            if second == nil, !reading.items.isEmpty { second = (dialect, reading) }
        }
        return second
    }

    /// A URL where a service takes an object of ids and URLs, as OneSignal does in `ios_attachments`.
    private static func withoutID(in payload: PayloadValue) -> AttachPrepError? {
        for dialect in PayloadDialect.all {
            for place in dialect.places where place.address.steps.last == .eachMember {
                let object = PayloadPattern(place.address.steps.dropLast())
                let match = object.matches(in: payload, countMax: 1) { match in
                    match.value.string.map { MediaAddress.read($0, namesLocalFiles: false) != nil } ?? false
                }.first
                guard let match else { continue }
                return AttachPrepError(
                    .payloadNoMedia,
                    "\(SpokenText.path(match.path)) is a URL, and \(dialect.service) takes an object there; write "
                        + "{\"id\": \"https://…\"}, with an id of your own for each piece of media.")
            }
        }
        return nil
    }

    private static func noMedia(_ dialect: PayloadDialect?, in payload: PayloadValue) -> AttachPrepError {
        if let error = withoutID(in: payload) { return error }
        let stray = StrayURL.mediaKey(in: payload).map { SpokenText.path(PayloadPath([.key($0)])) }
        let found = stray.map { "; there is a URL at \($0), which the media key \($0) takes" }
        guard let dialect else {
            return AttachPrepError(
                .payloadNoMedia,
                "The payload has no media where a known service puts it\(found ?? ""); give the media key, as in "
                    + "a.b.c, or the dialect (\(PayloadDialect.knownNames)).")
        }
        if dialect.name == PayloadDialect.customName {
            let remedy = found ?? "; write the keys that lead to it, with dots between them"
            return AttachPrepError(.payloadNoMedia, "\(dialect.service) holds no media\(remedy).")
        }
        let places = dialect.places.prefix(3).map(\.address.spoken).joined(separator: ", ")
        return AttachPrepError(
            .payloadNoMedia,
            "The payload has no media where \(dialect.name) puts it (\(places))\(found ?? ""); leave the dialect out "
                + "to look everywhere, or give the media key, as in a.b.c.")
    }
}

extension PayloadDialect {
    /// Whether nothing speaks against it: it needs no marks, or one is there.
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
    /// As sentences write it: `_wp.attachments[].url`.
    var spoken: String { SpokenText.path(PayloadPath([.key(description)])) }
}
