import MediaEngine
import RichPush

/// How large a source may be, once its format is known, and what it means when it is larger. Pure.
struct SourceCeiling: Sendable, Hashable {
    let bytesMax: Int
    let error: AttachPrepError

    init(format: MediaFormat, request: AttachmentRequest) {
        let limit = request.bytesMax(for: format.kind)
        // What is attachable and may not be shrunk has no use for a byte over the limit it is delivered under.
        if format.attachmentType != nil, request.oversize == .reject {
            bytesMax = limit
            error = AttachPrepError(
                .limitExceeded,
                "The \(format.kind.rawValue) is over its limit of \(limit.grouped) bytes; allow it to be "
                    + "shrunk (oversize: shrink) or send a smaller file.")
        } else {
            bytesMax = Limits.sourceBytesMax(format.kind)
            error = Self.tooLarge(bytesMax)
        }
    }

    /// Over what we take in at all.
    static func tooLarge(_ bytesMax: Int) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The source is over the \(bytesMax.grouped) bytes that are taken in; send a smaller file.")
    }
}
