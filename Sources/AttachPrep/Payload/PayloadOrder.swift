public import RichPush

/// A payload that was handed over to be rewritten, and the media that was found in it.
///
/// ```swift
/// let order = try PayloadOrder(PayloadDocument(bytes))
/// let result = try await order.rewritten(asking: AttachmentRequest(source: "")) { await preparer.prepare($0) }
/// ```
public struct PayloadOrder: Sendable {
    public let document: PayloadDocument
    public let media: PayloadMedia
    /// Of the same message for Apple's sandbox, in a request that has both.
    let sandboxMedia: PayloadMedia?

    /// - Parameter dialect: the only row of the table to read it by; nil looks for the one that fits.
    /// - Throws: `payload.no_media`.
    public init(_ document: PayloadDocument, dialect: PayloadDialect? = nil) throws {
        self.document = document
        media = try PayloadReader.media(in: document.value, dialect: dialect)
        sandboxMedia = PayloadReader.sandboxMedia(besides: media, in: document.value, dialect: dialect)
    }

    /// What `--dialect` and `--media-key` name together: at most one of them.
    ///
    /// - Throws: `request.invalid` for both, and for a name that no dialect has.
    public static func dialect(named name: String?, mediaKey: String?) throws -> PayloadDialect? {
        switch (name, mediaKey) {
        case (nil, nil): return nil
        case (let name?, nil): return try PayloadDialect.named(name)
        case (nil, let key?): return try PayloadDialect.custom(mediaKey: key)
        default:
            throw AttachPrepError(
                .requestInvalid, "A dialect and a media key are two ways to say where media is; give one of them.")
        }
    }

    /// Bytes of the APNs payload.
    public var bytes: Int { (try? document.bytes(at: media.root).count) ?? 0 }

    /// What is wrong with the payload as it is: nothing is fetched.
    public var warnings: [PayloadWarning] {
        let size = bytes > Limits.payloadBytesMax ? [PayloadWarning.tooLarge(bytes: bytes)] : []
        let found = [media, sandboxMedia].compactMap(\.self).map {
            [$0.warnings, PayloadCheck.warnings(for: document.value, media: $0)].flatMap(\.self)
        }
        return found.flatMap(\.self) + size  // Bounded: lists, not numbers.
    }
}

extension PayloadWarning {
    fileprivate static func tooLarge(bytes: Int) -> PayloadWarning {
        PayloadWarning(
            .tooLarge,
            "The payload has \(bytes.grouped) bytes, and APNs refuses more than \(Limits.payloadBytesMax.grouped); "
                + "shorten texts or leave keys out.")
    }
}
