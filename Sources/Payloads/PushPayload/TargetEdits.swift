import AttachPrepModel
import RichPush

/// Computes the edits for systems other than iOS: their values are replaced, and missing ones are added.
struct TargetEdits {
    let value: PayloadValue
    let media: PayloadMedia
    /// The systems that the request names.
    let targets: Set<MediaTarget>
    private(set) var changes: [PayloadEdit] = []
    private(set) var removedPaths: Set<PayloadPath> = []
    private(set) var warnings: [PayloadWarning] = []

    init(
        value: PayloadValue, media: PayloadMedia, prepared: [PreparedMedia], otherPrepared: [PreparedMedia],
        targets: Set<MediaTarget>
    ) {
        (self.value, self.media, self.targets) = (value, media, media.targets(named: targets))
        for (item, prepared) in zip(media.otherItems, otherPrepared) { write(prepared, into: item) }
        guard let item = media.items.first, let manifest = prepared.first?.manifest else { return }
        for target in [MediaTarget.android, .web] where self.targets.contains(target) {
            add(target, manifest: manifest, item: item)
        }
    }

    private mutating func write(_ prepared: PreparedMedia, into item: PayloadMediaItem) {
        switch prepared {
        case .untouched: break
        case .failed(let error): remove(item, error: error)
        case .ready(let manifest), .fallback(let manifest):
            guard let url = url(of: manifest, for: item) else { return warn(missing: item) }
            if value.value(at: item.path)?.string != url { changes.append(.replace(item.path, .string(url))) }
        }
    }

    private func url(of manifest: Manifest, for item: PayloadMediaItem) -> String? {
        let location = item.location
        if location.sharing == .always { return manifest.still(for: targets)?.url }
        return manifest.renditionURL(for: location.target, as: location.role)
    }

    /// Adds the value of a system that the payload has none for.
    private mutating func add(_ target: MediaTarget, manifest: Manifest, item: PayloadMediaItem) {
        let isThere = media.otherItems.contains {
            $0.location.target == target && $0.location.role == .image && !$0.location.isIgnored
        }
        let isCovered = target == .android && item.location.isShared(with: targets)
        guard !isThere, !isCovered, let path = item.location.additions[target]?.path(choosing: []),
            let url = manifest.renditionURL(for: target)
        else { return }
        changes += value.addition(of: .string(url), at: path)
    }

    private mutating func remove(_ item: PayloadMediaItem, error: ManifestError) {
        removedPaths.insert(item.path)
        warnings.append(
            PayloadWarning(
                .mediaRemoved,
                "The media at \(PrintableText.path(item.path)), for \(item.location.target.service), is removed "
                    + "(\(error.code.rawValue)): \(error.message)",
                level: media.items.isEmpty ? nil : .warning))
    }

    private mutating func warn(missing item: PayloadMediaItem) {
        warnings.append(
            PayloadWarning(
                .strayMedia,
                "\(PrintableText.path(item.path)) stays as it was: no picture for \(item.location.target.service) "
                    + "could be made of its source; its manifest has the reason."))
    }
}

extension PreparedMedia {
    /// The manifest of media that can be delivered; nil for other media.
    var manifest: Manifest? {
        switch self {
        case .ready(let manifest), .fallback(let manifest): manifest
        case .failed, .untouched: nil
        }
    }
}

extension MediaTarget {
    /// The name of the system, for messages.
    package var service: String {
        switch self {
        case .ios: "iOS"
        case .android: "Android"
        case .web: "browsers"
        case .avatar: "the sender's picture"
        }
    }
}
