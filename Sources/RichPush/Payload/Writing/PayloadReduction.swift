/// What may be left out to keep a payload within APNs' 4,096 bytes, in this order, one after another until it fits.
public enum PayloadReduction: Sendable, Hashable, CaseIterable {
    case whitespace
    case thumbnails
    case furtherDigests
    case furtherAttachments
    case receipt
    case firstDigest
    case neutralObject

    /// What is left out.
    public var part: String {
        switch self {
        case .whitespace: "whitespace between tokens"
        case .thumbnails: "the thumbnails in `attachprep`"
        case .furtherDigests: "sha256 and bytes of the attachments after the first in `attachprep`"
        case .furtherAttachments: "the attachments after the first in `attachprep`"
        case .receipt: "the receipt in `attachprep`"
        case .firstDigest: "sha256 and bytes of the first attachment in `attachprep`"
        case .neutralObject: "`attachprep` as a whole"
        }
    }

    /// Why it goes at its turn.
    public var reason: String {
        switch self {
        case .whitespace: "it means nothing"
        case .thumbnails: "they are only shown when an attachment does not arrive"
        case .furtherDigests: "one attachment is shown, the others stand in for it"
        case .furtherAttachments: "the first one is the one that is shown"
        case .receipt: "arrivals are not counted, and the media still arrives"
        case .firstDigest: "the device cannot check what it fetched, and still attaches it"
        case .neutralObject: "the media stands in the service's own keys, too"
        }
    }

    /// The neutral object without the part.
    func applied(to content: PushContent) -> PushContent {
        var content = content
        switch self {
        case .whitespace: break
        case .thumbnails:
            for index in content.attachments.indices { content.attachments[index].thumbnail = nil }
        case .furtherDigests:
            for index in content.attachments.indices.dropFirst() { content.attachments[index].dropDigest() }
        case .furtherAttachments: content.attachments = Array(content.attachments.prefix(1))
        case .receipt: content.receipt = nil
        case .firstDigest:
            for index in content.attachments.indices.prefix(1) { content.attachments[index].dropDigest() }
        case .neutralObject: content = PushContent(attachments: [])
        }
        return content
    }
}

extension PushAttachment {
    fileprivate mutating func dropDigest() {
        (bytes, sha256) = (nil, nil)
    }
}
