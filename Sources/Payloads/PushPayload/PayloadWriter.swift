public import AttachPrepModel
public import RichPush

/// Writes prepared media into a payload in the form of its dialect.
///
/// All other bytes stay unchanged, except that the neutral object `attachprep` is added for apps that read it. Writing
/// is idempotent.
public enum PayloadWriter {
    /// Returns the payload to send; throws `payload.too_large` when it does not fit without its optional parts.
    ///
    /// - Parameters:
    ///   - prepared: The result of each media item, in order.
    ///   - receipt: The URL and token for arrival reports; part of the neutral object.
    ///   - addsNeutralObject: Whether `attachprep` is added; without it, only the service's own keys name the media.
    public static func write(
        _ document: PayloadDocument, media: PayloadMedia, prepared: [PreparedMedia], receipt: PushReceipt? = nil,
        addsNeutralObject: Bool = true
    ) throws -> WrittenPayload {
        guard media.items.count == prepared.count else {
            throw PayloadError(.internal, "The numbers of media items and results differ; report this as a bug.")
        }
        var rewriting = MediaEdits(value: document.value, media: media, prepared: prepared)
        var document = document
        try document.apply(try rewriting.edits())
        guard media.hasPayload(in: document.value) else {
            return WrittenPayload(bytes: document.bytes, warnings: rewriting.warnings + [requestWarning(media)])
        }
        let content =
            addsNeutralObject
            ? PushContent(media: media, prepared: prepared, receipt: receipt) : PushContent(attachments: [])
        var fitting = FittedPayload(base: document, root: media.root, content: content)
        let fitted = try fitting.fitted()
        return WrittenPayload(bytes: fitted.bytes, warnings: rewriting.warnings + fitting.warnings)
    }

    /// Adds the neutral object for one prepared file, and `mutable-content`, to a payload that names no media.
    ///
    /// - Throws: `payload.too_large` when it does not fit without its optional parts.
    public static func add(_ manifest: Manifest, to document: PayloadDocument) throws -> WrittenPayload {
        var document = document
        if let aps = document.value["aps"], aps.members != nil, aps["mutable-content"] == nil {
            try document.apply([.set(key: "mutable-content", .number("1"), in: PayloadPath([.key("aps")]))])
        }
        var attachment = PushAttachment(manifest)
        attachment?.id = "0"
        let content = PushContent(attachments: attachment.map { [$0] } ?? [])
        var fitting = FittedPayload(base: document, root: PayloadPath(), content: content)
        let fitted = try fitting.fitted()
        return WrittenPayload(bytes: fitted.bytes, warnings: fitting.warnings)
    }

    private static func requestWarning(_ media: PayloadMedia) -> PayloadWarning {
        PayloadWarning(
            .partDropped,
            "This is a request to \(media.dialect.service), which builds the APNs payload from it, so "
                + "`\(PushContent.key)` is not added and the size is not checked; pass the APNs payload to get both.")
    }
}

/// A payload with prepared media, and the warnings of writing it.
public struct WrittenPayload: Sendable, Hashable {
    public var bytes: [UInt8]
    /// Warnings about removed media, dropped parts and keys that could not be renamed.
    public var warnings: [PayloadWarning]

    public init(bytes: [UInt8], warnings: [PayloadWarning]) {
        self.bytes = bytes
        self.warnings = warnings
    }
}

extension PayloadMedia {
    /// Whether the input contains an APNs payload, and not only a request from which a service builds one.
    fileprivate func hasPayload(in value: PayloadValue) -> Bool {
        (items.first?.location.isRequest != true || value["aps"] != nil) && value.value(at: root)?.members != nil
    }
}

/// The result of preparing one media item of a payload.
public enum PreparedMedia: Sendable, Hashable {
    /// The item was prepared and published.
    case ready(Manifest)
    /// The item's URL failed; its fallback URL was prepared and published.
    case fallback(Manifest)
    /// The item failed, and is removed from the payload.
    case failed(ManifestError)
    /// The item was not fetched: a file in the app's bundle, or a URL that only the app can complete.
    case untouched
}

/// Computes the edits that insert prepared media into a payload and remove failed media.
struct MediaEdits {
    let value: PayloadValue
    let media: PayloadMedia
    let prepared: [PreparedMedia]
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

    init(value: PayloadValue, media: PayloadMedia, prepared: [PreparedMedia]) {
        self.value = value
        self.media = media
        self.prepared = prepared
        kept = zip(media.items, prepared).reduce(into: []) { kept, pair in
            guard case .failed = pair.1 else { return kept.formUnion(pair.0.fields.values) }
        }
    }

    /// The edits in an order that keeps their paths valid: removals last, from the end of the payload.
    mutating func edits() throws(PayloadError) -> [PayloadEdit] {
        for case (let item, .failed(let error)) in zip(media.items, prepared) { removeMedia(item, error) }
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
            let type = AttachmentType(uti: attachment.uti)
        else {
            throw PayloadError(
                .internal, "A prepared file has no URL or no attachable type; report this as a bug.")
        }
        replace(item.path, with: .string(url))
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

    private mutating func removeMedia(_ item: PayloadMediaItem, _ error: ManifestError) {
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
        warnings.append(
            PayloadWarning(
                .mediaRemoved,
                "The media at \(PrintableText.path(item.path)) is removed, so the notification appears "
                    + "without it (\(error.code.rawValue)): \(error.message)"))
    }
}

/// Removes values from a payload, and the objects, arrays and JSON strings that become empty.
///
/// The top of the payload and `aps` are kept, even when empty.
struct PayloadRemovals {
    let removedPaths: Set<PayloadPath>
    private let above: Set<PayloadPath>
    private let keptContainers: Set<PayloadPath>

    init(removedPaths: Set<PayloadPath>, root: PayloadPath) {
        self.removedPaths = removedPaths
        above = removedPaths.reduce(into: []) { above, path in
            var path = path
            while let parent = path.parent, above.insert(parent).inserted { path = parent }
        }
        keptContainers = [PayloadPath(), root, root.appending(.key("aps"))]
    }

    /// The removals in reverse order, so that array indices stay valid.
    func edits(in value: PayloadValue) -> [PayloadEdit] {
        var paths: [PayloadPath] = []
        _ = isRemoved(value, at: PayloadPath(), into: &paths)
        return paths.reversed().map(PayloadEdit.remove)
    }

    /// Whether a value is removed completely; otherwise adds the removed parts to `paths`, in the payload's order.
    private func isRemoved(_ value: PayloadValue, at path: PayloadPath, into paths: inout [PayloadPath]) -> Bool {
        if removedPaths.contains(path) { return true }
        guard above.contains(path) else { return false }
        let children = Self.children(of: value, at: path)
        var within: [PayloadPath] = []
        var count = 0
        for (child, path) in children {
            if isRemoved(child, at: path, into: &within) {
                count += 1
                within.append(path)
            }
        }
        if count == children.count, count > 0, !keptContainers.contains(path) { return true }
        paths += within
        return false
    }

    private static func children(of value: PayloadValue, at path: PayloadPath) -> [(PayloadValue, PayloadPath)] {
        switch value {
        case .object(let members): members.map { ($0.value, path.appending(.key($0.key))) }
        case .array(let elements): elements.enumerated().map { ($0.element, path.appending(.index($0.offset))) }
        case .string(let text):
            (try? PayloadValue(json: Array(text.utf8))).map { [($0, path.appending(.text))] } ?? []
        case .number, .bool, .null: []
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
        case .each, .first, .eachMember, .dotted: true
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
