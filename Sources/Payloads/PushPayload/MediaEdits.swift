import AttachPrepModel
import RichPush

/// Computes the edits that insert prepared media into a payload and remove failed media.
struct MediaEdits {
    let value: PayloadValue
    let media: PayloadMedia
    let prepared: [PreparedMedia]
    /// The systems that the request names.
    let targets: Set<MediaTarget>
    /// The edits for other systems; nil without any.
    var others: TargetEdits?
    private(set) var warnings: [PayloadWarning] = []

    private var changes: [PayloadEdit] = []
    private var renames: [PayloadEdit] = []
    /// Renames to keys that become free by removals.
    private var lateRenames: [PayloadEdit] = []
    private var removedPaths: Set<PayloadPath> = []
    /// Fields whose value is final. When items share a field, the item whose thumbnail is shown decides, then the
    /// others in order.
    private var decided: Set<PayloadPath> = []
    /// Options that do not apply to one of the items; removed unless they apply to another.
    private var meaningless: [PayloadPath: String] = [:]
    /// Fields of the media that is kept; items may share them.
    private let kept: Set<PayloadPath>

    init(value: PayloadValue, media: PayloadMedia, prepared: [PreparedMedia], targets: Set<MediaTarget>) {
        self.value = value
        self.media = media
        self.prepared = prepared
        self.targets = targets
        kept = zip(media.items, prepared).reduce(into: []) { kept, pair in
            guard case .failed = pair.1 else { return kept.formUnion(pair.0.fields.values) }
        }
    }

    /// The edits in an order that keeps their paths valid: removals last, from the end of the payload.
    mutating func edits() throws(PayloadError) -> [PayloadEdit] {
        for (index, (item, prepared)) in zip(media.items, prepared).enumerated() {
            if case .failed(let error) = prepared { removeMedia(item, error: error, isFirst: index == 0) }
        }
        let pairs = zip(media.items, prepared).map { (item: $0.0, prepared: $0.1) }
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
        if let others {
            changes += others.changes
            removedPaths.formUnion(others.removedPaths)
            warnings += others.warnings
        }
        let removals = PayloadRemovals(removedPaths: removedPaths, root: media.root).edits(in: value)
        return changes + renames + removals + lateRenames
    }

    /// Whether the payload selects the item's thumbnail for the collapsed notification.
    private func isShown(_ item: PayloadMediaItem) -> Bool {
        guard let id = item.id, let path = item.location.thumbnailID?.path(like: item.path, of: item.location.address)
        else { return false }
        return value.value(at: path)?.string == id
    }

    /// Removes the fallback field, whose media is now at the item's URL, and moves the values that belong to it.
    private mutating func useFallback(of item: PayloadMediaItem) {
        if let path = item.fields[.fallbackURL] { removedPaths.insert(path) }
        for move in item.location.fallbackMoves {
            let (from, to) = (move.from.path(choosing: []), move.to.path(choosing: []))
            guard let moved = value.value(at: from), case .key(let key)? = to.steps.last, let parent = to.parent
            else { continue }
            removedPaths.insert(from)
            changes.append(value.value(at: to) == nil ? .set(key: key, moved, in: parent) : .replace(to, moved))
        }
    }

    private mutating func removeMeaningless() {
        for (path, type) in meaningless.sorted(by: { $0.key.description < $1.key.description })
        where !decided.contains(path) {
            removedPaths.insert(path)
            warnings.append(
                PayloadWarning(
                    .optionRemoved, "\(PrintableText.path(path)) is removed because it has no meaning for \(type)."))
        }
    }

    private mutating func put(_ manifest: Manifest, into item: PayloadMediaItem) throws(PayloadError) {
        guard let attachment = manifest.attachment, let url = attachment.url,
            let attachedType = AttachmentType(uti: attachment.uti)
        else {
            throw PayloadError(
                .internal, "A prepared file has no URL or no attachable type; report this as a bug.")
        }
        let still = item.location.isShared(with: targets) ? manifest.still(for: targets) : nil
        let isSplit = still.map { $0.url != url && item.location.additions[.ios] != nil } ?? false
        let type = still?.type ?? attachedType
        replace(item.path, with: .string(still?.url ?? url))
        // The fallback is not sealed.
        if manifest.sealed != nil, let path = item.fields[.fallbackURL] { removedPaths.insert(path) }
        if isSplit, let path = item.location.additions[.ios]?.path(choosing: []) {
            changes += value.addition(of: .string(url), at: path)
        }
        writeType(type, of: item)
        rename(item, to: type)
        let shapes = MediaFieldChanges(item: item, attachment: attachment, type: type, options: manifest.options)
        for field in MediaLocation.Field.allCases {
            guard let path = item.fields[field], !decided.contains(path), let found = value.value(at: path)
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
        if value.value(at: path) != new { changes.append(.replace(path, new)) }
    }

    /// Updates an existing type field, and adds a missing one when the service needs it.
    private mutating func writeType(_ type: AttachmentType, of item: PayloadMediaItem) {
        guard let word = item.location.types.written(type, like: item.declaredType) else { return }
        if let path = item.fields[.type] {
            if decided.insert(path).inserted { replace(path, with: .string(word)) }
        } else if let path = item.location.fields[.type]?.path(like: item.path, of: item.location.address),
            case .key(let key)? = path.steps.last, let parent = path.parent, decided.insert(path).inserted,
            value.value(at: parent)?.members != nil
        {
            changes.append(.set(key: key, .string(word), in: parent))
        }
    }

    /// Renames a key that names another kind, if the key for the kind is free.
    private mutating func rename(_ item: PayloadMediaItem, to type: AttachmentType) {
        guard case .key(let key)? = item.path.steps.last, let parent = item.path.parent,
            let fitting = item.location.key(for: type, now: key), fitting != key
        else { return }
        let path = parent.appending(.key(fitting))
        // A removal shifts the indices of an array, so a later rename must not go through one.
        let isLeftFree =
            removedPaths.contains(path) && path.steps.allSatisfy { if case .index = $0 { false } else { true } }
        guard value.value(at: path) == nil || isLeftFree, decided.insert(path).inserted else {
            warnings.append(
                PayloadWarning(
                    .typeContradicted,
                    "\(PrintableText.path(item.path)) now holds \(type.mimeType), but the key "
                        + "\(PrintableText.quoted(fitting)) for it is in use, so the key stays; remove one of them."))
            return
        }
        let edit = PayloadEdit.rename(item.path, to: fitting)
        if isLeftFree { lateRenames.append(edit) } else { renames.append(edit) }
    }

    /// Removes media that cannot be delivered; without the first one, the notification has none.
    private mutating func removeMedia(_ item: PayloadMediaItem, error: ManifestError, isFirst: Bool) {
        guard !item.location.isGuessed else { return keepMedia(item, error: error) }
        removedPaths.insert(item.path)
        removedPaths.formUnion(item.fields.values.filter { !kept.contains($0) })
        for companion in item.location.companions {
            guard let path = companion.path(like: item.path, of: item.location.address), value.value(at: path) != nil
            else { continue }
            removedPaths.insert(path)
        }
        if let id = item.id, let path = item.location.thumbnailID?.path(like: item.path, of: item.location.address),
            value.value(at: path)?.string == id
        {
            removedPaths.insert(path)
        }
        if isFirst { useAlternativeText(of: item) }
        warnings.append(
            PayloadWarning(
                .mediaRemoved,
                "The media at \(PrintableText.path(item.path)) is removed, so the notification appears "
                    + "without it (\(error.code.rawValue)): \(error.message)", level: isFirst ? nil : .warning))
    }

    /// Leaves a value whose key the app defines: it may be the address of a page, or be required by the app.
    private mutating func keepMedia(_ item: PayloadMediaItem, error: ManifestError) {
        warnings.append(
            PayloadWarning(
                .addressNotFetched,
                "\(PrintableText.path(item.path)) could not be prepared and stays as it was "
                    + "(\(error.code.rawValue)): \(error.message)"))
    }

    /// Shows the text that replaces the alert's body when the media is missing, as the service's extension would.
    private mutating func useAlternativeText(of item: PayloadMediaItem) {
        guard let path = item.location.alternativeText?.path(choosing: []), let text = value.value(at: path)?.string,
            !PrintableText.trimmed(text).isEmpty
        else { return }
        removedPaths.insert(path)
        let alert = item.location.root.appending(.key("aps")).appending(.key("alert"))
        switch value.value(at: alert) {
        case .string: changes.append(.replace(alert, .string(text)))
        case .object: changes.append(.set(key: "body", .string(text), in: alert))
        default: break
        }
    }
}

extension PayloadPattern {
    /// The path of this pattern with the array elements of `path`, which matches `form`; nil when they do not match.
    func path(like path: PayloadPath, of form: PayloadPattern) -> PayloadPath? {
        guard path.steps.count == form.steps.count else { return nil }
        let choices = zip(form.steps, path.steps).filter { $0.0.isChoice }.map { [$0.1] }
        return self.path(choosing: choices)
    }
}

extension PayloadPattern.Step {
    fileprivate var isChoice: Bool {
        switch self {
        case .each, .first, .eachMember, .mediaBelow, .dotted: true
        case .key, .text: false
        }
    }
}

extension MediaLocation {
    /// The key for media of a type; nil when keys do not name a kind, or no key fits.
    func key(for type: AttachmentType, now: String) -> String? {
        // Services without a key for GIFs use the one for images.
        let animations = keys.filter { $0.kind == type.kind && $0.isAnimation == (type == .gif) }
        let fitting = animations.isEmpty ? keys.filter { $0.kind == type.kind && !$0.isAnimation } : animations
        guard keys.contains(where: { $0.key == now }) else { return nil }
        return fitting.contains { $0.key == now } ? now : fitting.first?.key
    }
}
