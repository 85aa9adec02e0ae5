import AttachPrepModel
import RichPush

/// An image for a value that several systems read: what Android's SDK downloads and shows, and iOS attaches.
struct SharedStill: Sendable, Hashable {
    let url: String
    let type: AttachmentType

    /// Nil for another type than JPEG or PNG, and over Android's limit.
    fileprivate init?(url: String?, mimeType: String, bytes: Int) {
        let type = [AttachmentType.jpeg, .png].first { $0.mimeType == mimeType }
        guard let url, let type, bytes <= Limits.androidImageBytesMax else { return nil }
        (self.url, self.type) = (url, type)
    }
}

extension Manifest {
    /// The still for a value that Android reads as well; nil when the media has none.
    ///
    /// - Parameter targets: If they name Android, its picture comes first; else the attachment does, where Android can
    ///   show it.
    func still(for targets: Set<MediaTarget>) -> SharedStill? {
        let own = attachment.flatMap { SharedStill(url: $0.url, mimeType: $0.mimeType, bytes: $0.bytes) }
        let picture = renditions?[MediaTarget.android.rawValue]
            .flatMap { SharedStill(url: $0.url, mimeType: $0.type, bytes: $0.bytes) }
        let small = thumbnail.flatMap { SharedStill(url: $0.url, mimeType: $0.mimeType, bytes: $0.bytes) }
        return targets.contains(.android) ? picture ?? own ?? small : own ?? picture ?? small
    }
}

extension MediaLocation {
    /// Whether Android reads the value too, as far as the request is concerned.
    func isShared(with targets: Set<MediaTarget>) -> Bool {
        switch sharing {
        case .none: false
        case .whenNamed: targets.contains(.android)
        case .always: true
        }
    }

    /// Whether the location was found by what its value looks like.
    var isGuessed: Bool { address.steps.contains(.mediaBelow) }
}

extension PayloadValue {
    /// The edits that add a value at a path, with the objects on the way to it; none where a value is in the way.
    func addition(of value: PayloadValue, at path: PayloadPath) -> [PayloadEdit] {
        var (value, path) = (value, path)
        while case .key(let key)? = path.steps.last, let parent = path.parent {
            switch self.value(at: parent) {
            case .object?: return [.set(key: key, value, in: parent)]
            case nil, .null?: (value, path) = (.object([PayloadMember(key, value)]), parent)
            default: return []
            }
        }
        return []
    }
}

extension Limits {
    /// What Firebase's SDK for Android downloads of an image, 1 MiB: `MAX_IMAGE_SIZE_BYTES` in its `ImageDownload`.
    package static let androidImageBytesMax = 1_048_576
}
