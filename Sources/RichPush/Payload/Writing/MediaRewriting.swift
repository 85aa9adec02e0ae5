/// The edits that put prepared media into a payload, and take out what failed.
struct MediaRewriting {
    let value: PayloadValue
    let media: PayloadMedia
    let prepared: [PreparedMedia]
    private(set) var warnings: [PayloadWarning] = []

    private var changes: [PayloadEdit] = []
    private var renames: [PayloadEdit] = []
    /// To keys that what goes leaves free.
    private var lateRenames: [PayloadEdit] = []
    private var doomed: Set<PayloadPath> = []
    /// Fields that an item has decided: of one that several share, the item whose thumbnail is shown comes first, then
    /// the others in their order.
    private var decided: Set<PayloadPath> = []
    /// Options without a meaning for one of the items; they go when they have none for any.
    private var meaningless: [PayloadPath: String] = [:]
    /// Fields of the media that stays; some stand for several items.
    private let kept: Set<PayloadPath>

    init(value: PayloadValue, media: PayloadMedia, prepared: [PreparedMedia]) {
        self.value = value
        self.media = media
        self.prepared = prepared
        kept = zip(media.items, prepared).reduce(into: []) { kept, pair in
            guard case .failed = pair.1 else { return kept.formUnion(pair.0.fields.values) }
        }
    }

    /// In an order that keeps their paths true: what goes, goes last and from the end.
    mutating func edits() throws(AttachPrepError) -> [PayloadEdit] {
        for case (let item, .failed(let error)) in zip(media.items, prepared) { takeOut(item, error) }
        let pairs = zip(media.items, prepared).map { (item: $0.0, prepared: $0.1) }
        // Bounded: lists, not numbers.
        for (item, prepared) in pairs.filter({ isShown($0.item) }) + pairs.filter({ !isShown($0.item) }) {
            switch prepared {
            case .ready(let manifest): try put(manifest, into: item)
            case .fallback(let manifest):
                try put(manifest, into: item)
                useFallback(of: item)
            case .failed, .untouched: break
            }
        }
        removeMeaningless()
        let removals = PayloadRemovals(doomed: doomed, root: media.root).edits(in: value)
        return changes + renames + removals + lateRenames
    }

    /// Whether the payload names it as the one whose thumbnail is shown.
    private func isShown(_ item: PayloadMediaItem) -> Bool {
        guard let id = item.id, let path = item.place.thumbnailID?.path(like: item.path, of: item.place.address)
        else { return false }
        return value.standing(at: path)?.string == id
    }

    /// The fallback's address is in the other's place now; so are the values that belong to it.
    private mutating func useFallback(of item: PayloadMediaItem) {
        if let path = item.fields[.fallbackURL] { doomed.insert(path) }
        for move in item.place.fallbackMoves {
            let (from, to) = (move.from.path(choosing: []), move.to.path(choosing: []))
            guard let moved = value.standing(at: from), case .key(let key)? = to.steps.last, let parent = to.parent
            else { continue }
            doomed.insert(from)
            changes.append(value.standing(at: to) == nil ? .set(key: key, moved, in: parent) : .replace(to, moved))
        }
    }

    private mutating func removeMeaningless() {
        for (path, type) in meaningless.sorted(by: { $0.key.description < $1.key.description })
        where !decided.contains(path) {
            doomed.insert(path)
            warnings.append(
                PayloadWarning(
                    .optionRemoved, "\(SpokenText.path(path)) is taken out, because it has no meaning for \(type)."))
        }
    }

    private mutating func put(_ manifest: Manifest, into item: PayloadMediaItem) throws(AttachPrepError) {
        guard let attachment = manifest.attachment, let url = attachment.url,
            let type = AttachmentType(uti: attachment.uti)
        else {
            throw AttachPrepError(
                .internal, "A prepared file has an address and a type; report this as a fault of ours.")
        }
        replace(item.path, with: .string(url))
        writeType(type, of: item)
        rename(item, to: type)
        let shapes = FieldShapes(item: item, attachment: attachment, type: type, options: manifest.options)
        for field in MediaPlace.Field.allCases {
            guard let path = item.fields[field], !decided.contains(path), let found = value.standing(at: path)
            else { continue }
            let change = shapes.change(of: field, found: found)
            if change == .remove {
                meaningless[path] = meaningless[path] ?? type.mimeType
                continue
            }
            decided.insert(path)
            switch change {
            case .keep, .remove: break
            case .write(let value): replace(path, with: value)
            case .writeParts(let parts):
                for part in parts { replace(PayloadPath(path.steps + part.steps), with: part.value) }
            }
        }
    }

    private mutating func replace(_ path: PayloadPath, with new: PayloadValue) {
        if value.standing(at: path) != new { changes.append(.replace(path, new)) }
    }

    /// A type field that is there changes with the type; one that is missing is added when the service needs it.
    private mutating func writeType(_ type: AttachmentType, of item: PayloadMediaItem) {
        guard let word = item.place.types.written(type, like: item.declaredType) else { return }
        if let path = item.fields[.type] {
            if decided.insert(path).inserted { replace(path, with: .string(word)) }
        } else if let path = item.place.fields[.type]?.path(like: item.path, of: item.place.address),
            case .key(let key)? = path.steps.last, let parent = path.parent, decided.insert(path).inserted,
            value.standing(at: parent)?.members != nil
        {
            changes.append(.set(key: key, .string(word), in: parent))
        }
    }

    /// A key that names another kind changes, when the one that fits is free.
    private mutating func rename(_ item: PayloadMediaItem, to type: AttachmentType) {
        guard case .key(let key)? = item.path.steps.last, let parent = item.path.parent,
            let fitting = item.place.key(for: type, now: key), fitting != key
        else { return }
        let path = parent.appending(.key(fitting))
        // What goes may move elements, so a later path must not go through an array.
        let isLeftFree = doomed.contains(path) && path.steps.allSatisfy { if case .index = $0 { false } else { true } }
        guard value.standing(at: path) == nil || isLeftFree, decided.insert(path).inserted else {
            warnings.append(
                PayloadWarning(
                    .typeContradicted,
                    "\(SpokenText.path(item.path)) now holds \(type.mimeType), but the key "
                        + "\(SpokenText.quoted(fitting)) for it is taken, so the key stays; remove one of the two."))
            return
        }
        let edit = PayloadEdit.rename(item.path, to: fitting)
        if isLeftFree { lateRenames.append(edit) } else { renames.append(edit) }
    }

    private mutating func takeOut(_ item: PayloadMediaItem, _ error: ManifestError) {
        doomed.insert(item.path)
        doomed.formUnion(item.fields.values.filter { !kept.contains($0) })
        for companion in item.place.companions {
            guard let path = companion.path(like: item.path, of: item.place.address), value.standing(at: path) != nil
            else { continue }
            doomed.insert(path)
        }
        if let id = item.id, let path = item.place.thumbnailID?.path(like: item.path, of: item.place.address),
            value.standing(at: path)?.string == id
        {
            doomed.insert(path)
        }
        warnings.append(
            PayloadWarning(
                .mediaRemoved,
                "The media at \(SpokenText.path(item.path)) is taken out, so the notification comes "
                    + "without it (\(error.code.rawValue)): \(error.message)"))
    }
}
