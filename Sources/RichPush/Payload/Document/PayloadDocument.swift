/// A payload as it was handed over: its bytes, what they say, and edits that leave alone what they do not name.
///
/// ```swift
/// var document = try PayloadDocument(Array(#"{"aps": {"alert": "Hi"}, "attach": "https://cdn.example/a.webp"}"#.utf8))
/// try document.apply([.replace(PayloadPath([.key("attach")]), .string("https://push.example/a.jpg"))])
/// ```
///
/// Strict JSON (RFC 8259): what readers would differ on is refused with the place and the remedy.
public struct PayloadDocument: Sendable, Hashable {
    private var text: PayloadText

    /// As handed over, with the edits made so far.
    public var bytes: [UInt8] { text.bytes }
    /// What the bytes say; an object.
    public private(set) var value: PayloadValue

    /// Throws `payload.invalid` for what is no JSON object, and `payload.too_large` beyond `payloadInputBytesMax`.
    public init(_ bytes: [UInt8]) throws(AttachPrepError) {
        guard bytes.count <= Limits.payloadInputBytesMax else {
            throw AttachPrepError(
                .payloadTooLarge,
                "The payload is \(bytes.count.grouped) bytes, over the \(Limits.payloadInputBytesMax.grouped) that are "
                    + "read; APNs takes \(Limits.payloadBytesMax.grouped), so hand over the payload alone.")
        }
        text = try PayloadText(bytes)
        guard case .object = text.top.content else {
            throw text.fault("is \(text.top.noun), not an object,", at: text.top.range.lowerBound, "put it in { }")
        }
        value = text.top.value
    }

    /// Makes the edits, in their order; `internal` for a path where nothing stands.
    public mutating func apply(_ edits: [PayloadEdit]) throws(AttachPrepError) {
        guard !edits.isEmpty else { return }
        var text = text
        for edit in edits {
            text = try text.replacing(try text.splice(for: edit))
        }
        self.text = text
        value = text.top.value
    }

    /// The same without whitespace between tokens.
    public func compacted() -> PayloadDocument {
        var document = self
        document.text = text.compacted
        return document
    }
}

extension PayloadDocument {
    /// The bytes of a value; for the top all of them, since they are sent as they are.
    ///
    /// - Throws: `internal` for a path where nothing stands.
    public func bytes(at path: PayloadPath) throws(AttachPrepError) -> [UInt8] {
        try text.bytes(at: path.steps[...])
    }

    /// The same without whitespace between the tokens of a value.
    func compacted(at path: PayloadPath) throws(AttachPrepError) -> PayloadDocument {
        guard !path.steps.isEmpty else { return compacted() }
        var document = self
        document.text = try text.replacing(try text.compaction(at: path.steps[...]))
        return document
    }
}

extension PayloadValue {
    /// What a JSON text says, whatever stands at its top: JSON inside a string need not be an object.
    ///
    /// Throws `payload.invalid`, with lines and columns of this text.
    public init(json bytes: [UInt8]) throws(AttachPrepError) {
        self = try PayloadText(bytes).top.value
    }
}
