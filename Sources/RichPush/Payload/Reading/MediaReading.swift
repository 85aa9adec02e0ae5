/// What one dialect finds in a payload.
struct MediaReading {
    var items: [PayloadMediaItem] = []
    var warnings: [PayloadWarning] = []

    /// Whether there is something to fetch, or a file of the app's.
    var isUsable: Bool {
        items.contains { item in
            if case .other = item.address { false } else { true }
        }
    }

    init(_ dialect: PayloadDialect, in top: PayloadValue) {
        for place in dialect.places {
            read(place, in: top)
            if dialect.choice == .firstPlace, !items.isEmpty { break }
        }
        guard items.count > Limits.payloadMediaMax else { return }
        items.removeLast(items.count - Limits.payloadMediaMax)
        warnings.append(
            PayloadWarning(
                .otherMedia,
                "The payload has more than \(Limits.payloadMediaMax) pieces of media; the first "
                    + "\(Limits.payloadMediaMax) count, since a notification shows one, so leave the others out."))
    }

    private mutating func read(_ place: MediaPlace, in top: PayloadValue) {
        let matches = place.address.matches(in: top, countMax: Limits.payloadMediaMax + 1) { match in
            match.value.string.map { MediaAddress.read($0, namesLocalFiles: place.namesLocalFiles) != nil } ?? false
        }
        var found = matches.compactMap { item($0, place, in: top) }
        hideOthers(&found, place, in: top)
        items += found
    }

    private mutating func item(_ match: PatternMatch, _ place: MediaPlace, in top: PayloadValue) -> PayloadMediaItem? {
        guard let written = match.value.string,
            let address = MediaAddress.read(written, namesLocalFiles: place.namesLocalFiles)
        else { return nil }
        var item = PayloadMediaItem(address: address, path: match.path, place: place)
        item.fields = fields(place, match, in: top)
        item.id = identifier(item, match, in: top)
        if let fallback = text(of: .fallbackURL, item, in: top),
            case .url(let url) = MediaAddress.read(fallback, namesLocalFiles: false)
        {
            item.fallbackURL = url
        }
        item.declaredType = text(of: .type, item, in: top)
        let read = MediaOptions(item.fields, in: top)
        item.options = read.options
        for warning in read.warnings where !warnings.contains(warning) { warnings.append(warning) }
        if case .other(let other) = address { warnings.append(Self.notFetched(other, item.path)) }
        return item
    }

    /// Nil where nothing but white space stands.
    private func text(
        of field: MediaPlace.Field, _ item: PayloadMediaItem, in top: PayloadValue
    ) -> String? {
        guard let text = item.fields[field].flatMap({ top.standing(at: $0)?.string }) else { return nil }
        return SpokenText.trimmed(text).isEmpty ? nil : text
    }

    /// Those that are there, each at the first of its places.
    private func fields(
        _ place: MediaPlace, _ match: PatternMatch, in top: PayloadValue
    ) -> [MediaPlace.Field: PayloadPath] {
        ([place.fields] + place.otherFields).reduce(into: [:]) { found, fields in
            for (field, pattern) in fields where found[field] == nil {
                let path = pattern.path(choosing: match.choices)
                if top.standing(at: path) != nil { found[field] = path }
            }
        }
    }

    private func identifier(_ item: PayloadMediaItem, _ match: PatternMatch, in top: PayloadValue) -> String? {
        if case .eachMember = item.place.address.steps.last, case .key(let key) = match.path.steps.last { return key }
        switch item.fields[.id].flatMap({ top.standing(at: $0) }) {
        case .string(let id) where !id.isEmpty: return id
        case .number(let id): return id
        default: return nil
        }
    }

    /// One of several may be the collapsed picture: the others' thumbnails are hidden, whatever is said for all.
    private mutating func hideOthers(_ found: inout [PayloadMediaItem], _ place: MediaPlace, in top: PayloadValue) {
        guard found.count > 1, let pattern = place.thumbnailID,
            case .string(let id) = top.standing(at: pattern.path(choosing: []))
        else { return }
        guard found.contains(where: { $0.id == id }) else {
            let path = SpokenText.path(pattern.path(choosing: []))
            warnings.append(
                PayloadWarning(
                    .optionInvalid,
                    "\(path) names no piece of media, so it is left out; write the id of one of them."))
            return
        }
        for index in found.indices where found[index].id != id {
            found[index].options.thumbnailHidden = true
        }
    }

    private static func notFetched(_ address: String, _ path: PayloadPath) -> PayloadWarning {
        let remedy =
            address.hasPrefix("//")
            ? "a URL without a scheme is none in an app, so write https: before it"
            : "only the app or its server can complete it, so write a whole https URL to have the media prepared"
        return PayloadWarning(
            .addressNotFetched,
            "\(SpokenText.path(path)) is neither an http nor an https URL and stays as it is; \(remedy).")
    }
}
