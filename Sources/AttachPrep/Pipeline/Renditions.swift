import MediaEngine
import RichPush

/// The files of a request as they were rendered, still under working names.
struct Renditions: Sendable {
    /// A rendition and its digest.
    struct File<Rendered: Sendable & Hashable>: Sendable, Hashable {
        let rendered: Rendered
        let sha256: String
    }

    /// What is delivered as the attachment.
    enum Delivery: Sendable, Hashable {
        /// The source, byte for byte.
        case source(AttachmentType)
        /// What was written anew.
        case written
        /// One of the pictures, because time allowed no more.
        case picture(RenderOutput)
    }

    var delivery = Delivery.written
    var attachment: File<RenderedAttachment>?
    var thumbnail: File<RenderedPicture>?
    var crop: File<RenderedPicture>?
    /// Where the picture that is shown stands in the source.
    var sourcePosition: MediaPosition?
    /// Where it stands in an attachment that was written anew.
    var attachmentPosition: MediaPosition?
    /// The part that was cut out, of the upright picture.
    var clippingRect: ClippingRect?
    var concessions: [String] = []
    var warnings: [PreparationWarning] = []
    /// Whether time forced less than was asked.
    var isDegraded = false

    init() {}

    /// Nothing rendered, the source delivered.
    init(delivering type: AttachmentType?) {
        if let type { delivery = .source(type) }
    }

    /// The same beside the source; nil leaves what is delivered.
    func delivering(_ type: AttachmentType?) -> Renditions {
        var renditions = self
        if let type { renditions.delivery = .source(type) }
        return renditions
    }

    /// Says once that time ran short, and what it cost.
    mutating func degrade(_ sentence: String) {
        isDegraded = true
        concessions.append(sentence)
        if warnings.contains(where: { $0.code == .deadlineDegraded }) { return }
        warnings.append(PreparationWarning(.deadlineDegraded, "The time budget allowed less than was asked."))
    }

    /// Takes over what a further render wrote.
    mutating func merge(_ later: Renditions) {
        attachment = later.attachment ?? attachment
        thumbnail = later.thumbnail ?? thumbnail
        crop = later.crop ?? crop
        sourcePosition = sourcePosition ?? later.sourcePosition
        attachmentPosition = later.attachmentPosition ?? attachmentPosition
        clippingRect = clippingRect ?? later.clippingRect
        // Bounded: lists.
        concessions += later.concessions
        for warning in later.warnings where !warnings.contains(where: { $0.code == warning.code }) {
            warnings.append(warning)
        }
        isDegraded = isDegraded || later.isDegraded
    }

    /// The picture that can stand for an attachment that was not made: the larger of the two.
    var standIn: RenderOutput? { crop != nil ? .crop : thumbnail != nil ? .thumbnail : nil }
}
