import AttachPrepModel
public import RichPush

/// A payload that can be edited: an edit changes only the bytes of the value it names.
///
/// ```swift
/// var document = try PayloadDocument(Array(#"{"aps": {"alert": "Hi"}, "attach": "https://cdn.example/a.webp"}"#.utf8))
/// try document.apply([.replace(PayloadPath([.key("attach")]), .string("https://push.example/a.jpg"))])
/// ```
///
/// Accepts strict JSON (RFC 8259) only. Ambiguous input, such as a duplicate key, is rejected with line and column.
public struct PayloadDocument: Sendable, Hashable {
    private var text: JSONText

    /// The original bytes with the edits made so far.
    public var bytes: [UInt8] { text.bytes }
    /// The parsed payload, an object.
    public private(set) var value: PayloadValue

    /// Parses a payload.
    ///
    /// Throws `payload.invalid` unless it is a JSON object, and `payload.too_large` over `payloadInputBytesMax`.
    public init(_ bytes: [UInt8]) throws(PayloadError) {
        guard bytes.count <= Limits.payloadInputBytesMax else {
            throw PayloadError(
                .payloadTooLarge,
                "The payload is \(bytes.count.grouped) bytes, over the limit of "
                    + "\(Limits.payloadInputBytesMax.grouped); APNs accepts \(Limits.payloadBytesMax.grouped), so send "
                    + "only the payload.")
        }
        text = try JSONText(bytes)
        guard case .object = text.top.content else {
            throw text.syntaxError(
                "is \(text.top.noun), not an object,", at: text.top.range.lowerBound, "enclose it in { }")
        }
        value = text.top.value
    }

    /// Makes the edits in order; throws `internal` for a path without a value.
    public mutating func apply(_ edits: [PayloadEdit]) throws(PayloadError) {
        guard !edits.isEmpty else { return }
        var text = text
        for edit in edits {
            text = try text.replacing(try text.splice(for: edit))
        }
        self.text = text
        value = text.top.value
    }

    /// Returns the payload without whitespace between tokens.
    public func compacted() -> PayloadDocument {
        var document = self
        document.text = text.compacted
        return document
    }
}

extension PayloadDocument {
    /// The bytes of a value; for an empty path, all bytes, which are sent unchanged.
    ///
    /// - Throws: `internal` for a path without a value.
    public func bytes(at path: PayloadPath) throws(PayloadError) -> [UInt8] {
        try text.bytes(at: path.steps[...])
    }

    /// Returns the payload without whitespace between the tokens of one value.
    func compacted(at path: PayloadPath) throws(PayloadError) -> PayloadDocument {
        guard !path.steps.isEmpty else { return compacted() }
        var document = self
        document.text = try text.replacing(try text.compaction(at: path.steps[...]))
        return document
    }
}

/// One change to a payload; all other bytes stay unchanged.
///
/// Edits are applied in order; a path refers to the payload after the preceding edits.
public enum PayloadEdit: Sendable, Hashable {
    /// Replaces an existing value.
    case replace(PayloadPath, PayloadValue)
    /// Renames the key of an existing value.
    case rename(PayloadPath, to: String)
    /// Removes a value with its key.
    case remove(PayloadPath)
    /// Replaces the value of a key in an existing object, or adds it as the last member.
    case set(key: String, PayloadValue, in: PayloadPath)
}

/// A replacement of a byte range in a JSON text.
struct JSONSplice: Sendable, Hashable {
    let range: Range<Int>
    let bytes: [UInt8]
}

extension JSONText {
    /// The byte replacement for an edit; throws `internal` when its path has no value.
    func splice(for edit: PayloadEdit) throws(PayloadError) -> JSONSplice {
        if let text = edit.path.steps.firstIndex(of: .text) {
            let (token, embedded) = try embedded(at: edit.path.steps[..<text])
            return token.lifted(try embedded.splice(for: edit.at(PayloadPath(Array(edit.path.steps[(text + 1)...])))))
        }
        return switch edit {
        case .replace(let path, let value): try replacement(at: path, with: value)
        case .rename(let path, let key): try renaming(path, to: key)
        case .remove(let path): try removal(of: path)
        case .set(let key, let value, let path): try addition(of: key, value, in: path)
        }
    }

    private func replacement(at path: PayloadPath, with value: PayloadValue) throws(PayloadError) -> JSONSplice {
        let node = try node(at: path.steps[...])
        if case .string(let text) = value, case .string = node.content {
            let escapesSlashes = JSONStringToken(bytes, node.range).escapesSlashes
            return JSONSplice(range: node.range, bytes: JSONEscaping.string(text, escapingSlashes: escapesSlashes))
        }
        let layout = try path.parent.map { (parent) throws(PayloadError) in
            try JSONLayout(beside: node, in: self.node(at: parent.steps[...]), of: bytes)
        }
        return JSONSplice(range: node.range, bytes: (layout ?? .compact).serialized(value))
    }

    private func renaming(_ path: PayloadPath, to key: String) throws(PayloadError) -> JSONSplice {
        let (container, index) = try child(at: path)
        guard case .object(let members) = container.content else { throw Self.missing(path) }
        return JSONSplice(range: members[index].keyRange, bytes: JSONEscaping.string(key))
    }

    /// Removes a value with the comma before it; the first one with the comma after it.
    private func removal(of path: PayloadPath) throws(PayloadError) -> JSONSplice {
        let (container, index) = try child(at: path)
        let children = container.children
        if children.count == 1 {
            return JSONSplice(range: container.range.lowerBound + 1..<container.range.upperBound - 1, bytes: [])
        }
        return index == 0
            ? JSONSplice(range: children[0].lowerBound..<children[1].lowerBound, bytes: [])
            : JSONSplice(range: children[index - 1].upperBound..<children[index].upperBound, bytes: [])
    }

    private func addition(
        of key: String, _ value: PayloadValue, in path: PayloadPath
    ) throws(PayloadError) -> JSONSplice {
        let node = try node(at: path.steps[...])
        guard case .object(let members) = node.content else { throw Self.missing(path) }
        if members.contains(where: { $0.key == key }) {
            return try replacement(at: path.appending(.key(key)), with: value)
        }
        let (separator, layout) = JSONLayout.ofNewMember(in: node, of: bytes)
        let member = JSONEscaping.string(key) + layout.colon + layout.serialized(value)
        guard let last = node.children.last else {
            return JSONSplice(range: node.range.lowerBound + 1..<node.range.upperBound - 1, bytes: member)
        }
        return JSONSplice(range: last.upperBound..<last.upperBound, bytes: separator + member)
    }

    private func child(at path: PayloadPath) throws(PayloadError) -> (container: JSONNode, index: Int) {
        guard let step = path.steps.last else { throw Self.missing(path) }
        let container = try node(at: path.steps.dropLast())
        guard let index = container.index(of: step) else { throw Self.missing(path) }
        return (container, index)
    }
}

extension PayloadEdit {
    /// The path of the changed value, or of the object that gets a member.
    var path: PayloadPath {
        switch self {
        case .replace(let path, _), .rename(let path, _), .remove(let path), .set(_, _, let path): path
        }
    }

    /// The same edit at another path.
    func at(_ path: PayloadPath) -> PayloadEdit {
        switch self {
        case .replace(_, let value): .replace(path, value)
        case .rename(_, let key): .rename(path, to: key)
        case .remove: .remove(path)
        case .set(let key, let value, _): .set(key: key, value, in: path)
        }
    }
}

/// A parsed JSON text: the payload, or the JSON in one of its strings.
struct JSONText: Sendable, Hashable {
    let bytes: [UInt8]
    let top: JSONNode

    /// Throws `payload.invalid`.
    init(_ bytes: [UInt8]) throws(PayloadError) {
        var parser = JSONParser(bytes)
        top = try parser.top()
        self.bytes = bytes
    }

    func syntaxError(_ what: String, at offset: Int, _ remedy: String) -> PayloadError {
        JSONErrorLocation(bytes: bytes).error(what, at: offset, remedy: remedy)
    }

    /// Returns the text with a byte range replaced.
    func replacing(_ splice: JSONSplice) throws(PayloadError) -> JSONText {
        var bytes = bytes
        bytes.replaceSubrange(splice.range, with: splice.bytes)
        return try JSONText(bytes)
    }

    /// The node at a path without steps into strings.
    func node(at steps: ArraySlice<PayloadPath.Step>) throws(PayloadError) -> JSONNode {
        var node = top
        for step in steps {
            guard let index = node.index(of: step), let child = node.child(index) else {
                throw Self.missing(PayloadPath(Array(steps)))
            }
            node = child
        }
        return node
    }

    /// The error for a path without a value: a bug, since paths come from the parsed payload.
    static func missing(_ path: PayloadPath) -> PayloadError {
        PayloadError(.internal, "The payload has no value at \(path) to change; report this as a bug.")
    }

    /// The string at a path, and the JSON text in it.
    func embedded(
        at steps: ArraySlice<PayloadPath.Step>
    ) throws(PayloadError) -> (token: JSONStringToken, text: JSONText) {
        let node = try node(at: steps)
        guard case .string = node.content else { throw Self.missing(PayloadPath(Array(steps) + [.text])) }
        let token = JSONStringToken(bytes, node.range)
        return (token, try JSONText(token.content))
    }

    /// The bytes of a value; of the top value including surrounding whitespace.
    func bytes(at steps: ArraySlice<PayloadPath.Step>) throws(PayloadError) -> [UInt8] {
        if let text = steps.firstIndex(of: .text) {
            return try embedded(at: steps[..<text]).text.bytes(at: steps[(text + 1)...])
        }
        return steps.isEmpty ? bytes : Array(bytes[try node(at: steps).range])
    }
}

extension JSONText {
    /// The text without whitespace between tokens.
    var compacted: JSONText {
        // Removing whitespace between tokens cannot make the text invalid.
        (try? JSONText(Self.compacted(bytes[...]))) ?? self
    }

    /// The replacement that removes the whitespace between the tokens of a value.
    func compaction(at steps: ArraySlice<PayloadPath.Step>) throws(PayloadError) -> JSONSplice {
        if let text = steps.firstIndex(of: .text) {
            let (token, embedded) = try embedded(at: steps[..<text])
            return token.lifted(try embedded.compaction(at: steps[(text + 1)...]))
        }
        let range = steps.isEmpty ? bytes.startIndex..<bytes.endIndex : try node(at: steps).range
        return JSONSplice(range: range, bytes: Self.compacted(bytes[range]))
    }

    private static func compacted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var (isInString, isEscaped) = (false, false)
        for byte in bytes where isInString || !JSONParser.isWhitespace(byte) {
            kept.append(byte)
            if byte == UInt8(ascii: "\""), !isEscaped { isInString.toggle() }
            isEscaped = isInString && byte == UInt8(ascii: "\\") && !isEscaped
        }
        return kept
    }
}

extension JSONStringToken {
    /// Converts a replacement in the decoded string to one in the source text.
    func lifted(_ splice: JSONSplice) -> JSONSplice {
        JSONSplice(
            range: origins[splice.range.lowerBound]..<origins[splice.range.upperBound],
            bytes: JSONEscaping.inside(splice.bytes, escapingSlashes: escapesSlashes))
    }
}
