/// One JSON text, read: the payload itself, or what one of its strings holds.
struct PayloadText: Sendable, Hashable {
    let bytes: [UInt8]
    let top: PayloadNode

    /// Throws `payload.invalid`.
    init(_ bytes: [UInt8]) throws(AttachPrepError) {
        var parser = PayloadParser(bytes)
        top = try parser.top()
        self.bytes = bytes
    }

    func fault(_ what: String, at offset: Int, _ remedy: String) -> AttachPrepError {
        PayloadFault(bytes: bytes).error(what, at: offset, remedy)
    }

    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }

    /// The text with some bytes in the place of others.
    func replacing(_ splice: PayloadSplice) throws(AttachPrepError) -> PayloadText {
        var bytes = bytes
        bytes.replaceSubrange(splice.range, with: splice.bytes)
        return try PayloadText(bytes)
    }

    /// What stands at a path without steps into strings.
    func node(at steps: ArraySlice<PayloadPath.Step>) throws(AttachPrepError) -> PayloadNode {
        var node = top
        for step in steps {
            guard let place = node.place(of: step), let child = node.child(place) else {
                throw Self.missing(PayloadPath(Array(steps)))
            }
            node = child
        }
        return node
    }

    /// A path comes from what was read, so it leads somewhere unless we are wrong.
    static func missing(_ path: PayloadPath) -> AttachPrepError {
        AttachPrepError(.internal, "The payload has nothing at \(path) to change; report this as a fault of ours.")
    }

    /// The string at a path, and the text it holds.
    func held(
        at steps: ArraySlice<PayloadPath.Step>
    ) throws(AttachPrepError) -> (token: PayloadStringToken, text: PayloadText) {
        let node = try node(at: steps)
        guard case .string = node.content else { throw Self.missing(PayloadPath(Array(steps) + [.text])) }
        let token = PayloadStringToken(bytes, node.range)
        return (token, try PayloadText(token.content))
    }

    /// The bytes of a value; of the top with the whitespace around it.
    func bytes(at steps: ArraySlice<PayloadPath.Step>) throws(AttachPrepError) -> [UInt8] {
        if let text = steps.firstIndex(of: .text) {
            return try held(at: steps[..<text]).text.bytes(at: steps[(text + 1)...])
        }
        return steps.isEmpty ? bytes : Array(bytes[try node(at: steps).range])
    }
}

extension PayloadText {
    /// Without whitespace between tokens.
    var compacted: PayloadText {
        // Nothing but whitespace goes, so it reads as before.
        (try? PayloadText(Self.compacted(bytes[...]))) ?? self
    }

    /// The change that takes the whitespace out of a value.
    func compaction(at steps: ArraySlice<PayloadPath.Step>) throws(AttachPrepError) -> PayloadSplice {
        if let text = steps.firstIndex(of: .text) {
            let (token, held) = try held(at: steps[..<text])
            return token.lifted(try held.compaction(at: steps[(text + 1)...]))
        }
        let range = steps.isEmpty ? bytes.startIndex..<bytes.endIndex : try node(at: steps).range
        return PayloadSplice(range: range, bytes: Self.compacted(bytes[range]))
    }

    private static func compacted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var (isInString, isEscaped) = (false, false)
        for byte in bytes where isInString || !isWhitespace(byte) {
            kept.append(byte)
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            isEscaped = isInString && byte == UInt8(ascii: "\\") && !isEscaped
        }
        return kept
    }
}
