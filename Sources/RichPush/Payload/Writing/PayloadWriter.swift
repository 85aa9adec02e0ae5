/// Writes prepared media into a payload, where and how its dialect wants it.
///
/// What is not media stays as it was, byte for byte; the neutral object `attachprep` is added for apps that read it.
/// A payload that is written twice is the same as one that is written once.
public enum PayloadWriter {
    /// The payload to send; throws `payload.too_large` when nothing that may go makes it fit.
    ///
    /// - Parameters:
    ///   - prepared: What became of each item of the media, in its order.
    ///   - receipt: Where devices report that it arrived; part of the neutral object.
    ///   - addsNeutralObject: Whether `attachprep` is added; without it, what a service's SDK reads is all there is.
    public static func write(
        _ document: PayloadDocument, media: PayloadMedia, prepared: [PreparedMedia], receipt: PushReceipt? = nil,
        addsNeutralObject: Bool = true
    ) throws -> WrittenPayload {
        guard media.items.count == prepared.count else {
            throw AttachPrepError(.internal, "Each piece of media has one result; report this as a fault of ours.")
        }
        var rewriting = MediaRewriting(value: document.value, media: media, prepared: prepared)
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

    private static func requestWarning(_ media: PayloadMedia) -> PayloadWarning {
        PayloadWarning(
            .partDropped,
            "This is a request to \(media.dialect.service), which makes the APNs payload of it, so it goes without "
                + "`\(PushContent.key)` and its size is not checked; hand over the APNs payload to have both.")
    }
}

/// A payload with prepared media, and what its sender should know.
public struct WrittenPayload: Sendable, Hashable {
    public var bytes: [UInt8]
    /// Of the writing alone: media taken out, parts left out, keys that could not be changed.
    public var warnings: [PayloadWarning]

    public init(bytes: [UInt8], warnings: [PayloadWarning]) {
        self.bytes = bytes
        self.warnings = warnings
    }
}

extension PayloadMedia {
    /// Whether there is an APNs payload, not only a request that a service makes one of.
    fileprivate func hasPayload(in value: PayloadValue) -> Bool {
        (items.first?.place.isRequest != true || value["aps"] != nil) && value.standing(at: root)?.members != nil
    }
}
