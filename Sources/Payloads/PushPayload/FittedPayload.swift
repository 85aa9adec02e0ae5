import AttachPrepModel
package import RichPush

/// Fits a payload with its neutral object into APNs' 4,096 bytes: drops optional parts, one at a time, until it fits.
struct FittedPayload {
    /// The payload with its prepared media, before the neutral object is added.
    let base: PayloadDocument
    let root: PayloadPath
    let content: PushContent
    /// What counts of the payload, and its limit.
    let share: PayloadShare
    private(set) var warnings: [PayloadWarning] = []

    init(base: PayloadDocument, root: PayloadPath, content: PushContent, share: PayloadShare) {
        self.base = base
        self.root = root
        self.content = content
        self.share = share
    }

    /// Throws `payload.too_large` when the payload is over the limit without all optional parts.
    mutating func fitted() throws(PayloadError) -> PayloadDocument {
        var (isCompact, content) = (false, content)
        var document = try complete(content, isCompact: isCompact)
        let hasSecret = content.attachments.contains { $0.sealed != nil }
        for reduction in PayloadReduction.allCases where reduction != .whitespace || share.hasWhitespace {
            // Nothing else in the payload opens sealed files.
            if reduction == .neutralObject, hasSecret { continue }
            if try share.bytes(of: document) <= share.bytesMax { return document }
            isCompact = isCompact || reduction == .whitespace
            content = reduction.applied(to: content)
            let reduced = try complete(content, isCompact: isCompact)
            if reduced != document { warnings.append(warning(of: reduction)) }
            document = reduced
        }
        guard try share.bytes(of: document) <= share.bytesMax else { throw try tooLarge(document) }
        return document
    }

    /// Sets the neutral object, at the end of the APNs payload, or removes it when `content` is empty.
    private func complete(_ content: PushContent, isCompact: Bool) throws(PayloadError) -> PayloadDocument {
        var document = isCompact ? try base.compacted(at: root) : base
        guard document.value.value(at: root) != nil else { return document }
        let there = try document.value(at: root)[PushContent.key]
        if content.isEmpty {
            if there != nil { try document.apply([.remove(root.appending(.key(PushContent.key)))]) }
        } else if there != content.payloadValue {
            try document.apply([.set(key: PushContent.key, content.payloadValue, in: root)])
        }
        return document
    }

    private func warning(of reduction: PayloadReduction) -> PayloadWarning {
        PayloadWarning(
            .partDropped,
            "To fit \(share.bytesMax.grouped) bytes of \(share.service), the payload is sent without \(reduction.part)"
                + ": \(reduction.reason); shorten texts or keys to keep it.")
    }

    private func tooLarge(_ document: PayloadDocument) throws(PayloadError) -> PayloadError {
        let bytes = try share.bytes(of: document)
        let (path, part) = (document.value.value(at: root) ?? document.value).largestPart
        let over = (bytes - share.bytesMax).grouped
        return PayloadError(
            .payloadTooLarge,
            "The payload is \(bytes.grouped) bytes after all optional parts were dropped, over the "
                + "\(share.bytesMax.grouped) of \(share.service); shorten it by \(over), for example "
                + "\(PrintableText.path(path)), which takes \(part.grouped).")
    }
}

extension PayloadDocument {
    /// The value at a path; throws `internal` when there is none.
    func value(at path: PayloadPath) throws(PayloadError) -> PayloadValue {
        guard let value = value.value(at: path) else { throw JSONText.missing(path) }
        return value
    }
}

extension PayloadValue {
    /// The largest member and its size in bytes; continues into it while one member takes more than half of it.
    fileprivate var largestPart: (path: PayloadPath, bytes: Int) {
        var (path, part) = (PayloadPath(), self)
        while let largest = part.members?.max(by: { $0.value.size < $1.value.size }),
            path.steps.isEmpty || largest.value.size * 2 > part.size
        {
            path = path.appending(.key(largest.key))
            part = largest.value
        }
        return (path, part.size)
    }

    private var size: Int { JSONLayout.compact.serialized(self).count }
}

/// Optional parts that are dropped, in this order, until a payload fits APNs' 4,096 bytes.
public enum PayloadReduction: Sendable, Hashable, CaseIterable {
    case whitespace
    case smaller
    case thumbnails
    case furtherDigests
    case furtherAttachments
    case avatar
    case receipt
    case firstDigest
    case neutralObject

    /// The name of the dropped part, for warnings.
    public var part: String {
        switch self {
        case .whitespace: "whitespace between tokens"
        case .smaller: "the smaller renditions in `attachprep`"
        case .thumbnails: "the thumbnails in `attachprep`"
        case .furtherDigests: "sha256 and bytes of the attachments after the first in `attachprep`"
        case .furtherAttachments: "the attachments after the first in `attachprep`"
        case .avatar: "the sender's picture in `attachprep`"
        case .receipt: "the receipt in `attachprep`"
        case .firstDigest: "sha256 and bytes of the first attachment in `attachprep`"
        case .neutralObject: "`attachprep` as a whole"
        }
    }

    /// Why the part is dropped at this step, for warnings.
    public var reason: String {
        switch self {
        case .whitespace: "it has no meaning"
        case .smaller: "they are fetched only over slow or expensive networks"
        case .thumbnails: "they are shown only when no attachment arrives"
        case .furtherDigests: "further attachments are used only when the first one fails"
        case .furtherAttachments: "the first one is the one that is shown"
        case .avatar: "the app shows the notification without it"
        case .receipt: "arrivals are not counted, but the media is still delivered"
        case .firstDigest: "the device attaches the file without verifying it"
        case .neutralObject: "the media is also in the service's own keys"
        }
    }

    /// Returns the neutral object without the part.
    func applied(to content: PushContent) -> PushContent {
        var content = content
        switch self {
        case .whitespace: break
        case .smaller:
            for index in content.attachments.indices { content.attachments[index].smaller = nil }
        case .thumbnails:
            for index in content.attachments.indices { content.attachments[index].thumbnail = nil }
        case .furtherDigests:
            for index in content.attachments.indices.dropFirst() { content.attachments[index].dropDigest() }
        case .furtherAttachments: content.attachments = Array(content.attachments.prefix(1))
        case .avatar: content.avatar = nil
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

extension Limits {
    /// Apple: a remote notification's payload, in bytes as sent.
    package static let payloadBytesMax = 4_096
}
