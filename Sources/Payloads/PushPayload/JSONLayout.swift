import AttachPrepModel
import MediaTypes

/// The whitespace of inserted JSON, copied from the surrounding text.
struct JSONLayout: Sendable, Hashable {
    /// The separator between a key and its value.
    var colon: [UInt8] = [UInt8(ascii: ":")]
    /// The separator between members on one line.
    var comma: [UInt8] = [UInt8(ascii: ",")]
    /// The line ending, when each member has its own line; nil when members share a line.
    var newline: [UInt8]?
    /// The indentation of the inserted value.
    var indentation: [UInt8] = []
    /// The additional indentation of each nested level.
    var indentationStep: [UInt8] = []

    static let compact = JSONLayout()

    func serialized(_ value: PayloadValue) -> [UInt8] {
        switch value {
        case .object(let members):
            block(
                "{", parts: members.map { JSONEscaping.string($0.key) + colon + within.serialized($0.value) },
                closing: "}")
        case .array(let elements): block("[", parts: elements.map(within.serialized), closing: "]")
        case .string(let text): JSONEscaping.string(text)
        case .number(let text): Array(text.utf8)
        case .bool(let value): Array((value ? "true" : "false").utf8)
        case .null: Array("null".utf8)
        }
    }

    private var within: JSONLayout {
        var layout = self
        layout.indentation += indentationStep
        return layout
    }

    private func block(_ opening: Unicode.Scalar, parts: [[UInt8]], closing: Unicode.Scalar) -> [UInt8] {
        let (first, last) = ([UInt8(ascii: opening)], [UInt8(ascii: closing)])
        guard let newline, !parts.isEmpty else { return first + Array(parts.joined(separator: comma)) + last }
        let line = newline + within.indentation
        return first + line + Array(parts.joined(separator: [UInt8(ascii: ",")] + line)) + newline + indentation + last
    }
}

extension JSONLayout {
    /// The layout of a child of an object or array.
    init(beside child: JSONNode, in container: JSONNode, of bytes: [UInt8]) {
        let start = container.children.first { $0.upperBound == child.range.upperBound }?.lowerBound
        self.init(
            leading: Self.whitespace(before: start ?? child.range.lowerBound, of: bytes), in: container, of: bytes)
    }

    /// The layout of a new last member, and the separator between it and the previous one.
    static func ofNewMember(in object: JSONNode, of bytes: [UInt8]) -> (separator: [UInt8], layout: JSONLayout) {
        let children = object.children
        guard let last = children.last else { return ([], .compact) }
        let leading = whitespace(before: last.lowerBound, of: bytes)
        let layout = JSONLayout(leading: leading, in: object, of: bytes)
        if children.count > 1 {
            return (Array(bytes[children[children.count - 2].upperBound..<last.lowerBound]), layout)
        }
        // With one member there is no separator to copy: on one line, its spacing follows the colon's.
        return (leading.isEmpty ? layout.comma : [UInt8(ascii: ",")] + leading, layout)
    }

    private init(leading: ArraySlice<UInt8>, in container: JSONNode, of bytes: [UInt8]) {
        let isNewline = { (byte: UInt8) in byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
        if case .object(let members) = container.content, let last = members.last {
            colon = Array(bytes[last.keyRange.upperBound..<last.node.range.lowerBound])
        } else if leading.contains(where: isNewline) {
            colon = Array(": ".utf8)
        }
        if let last = colon.last, JSONParser.isWhitespace(last) { comma = Array(", ".utf8) }
        guard let end = leading.lastIndex(where: isNewline) else { return }
        let isPair =
            bytes[end] == UInt8(ascii: "\n") && leading.dropLast(leading.endIndex - end).last == UInt8(ascii: "\r")
        newline = Array(bytes[(isPair ? end - 1 : end)...end])
        indentation = Array(leading[(end + 1)...])
        let outer = Self.whitespace(before: container.range.upperBound - 1, of: bytes).reversed()
            .prefix { !isNewline($0) }.reversed()
        let isDeeper = indentation.starts(with: outer) && indentation.count > outer.count
        indentationStep = isDeeper ? Array(indentation.dropFirst(outer.count)) : Array("  ".utf8)
    }

    private static func whitespace(before end: Int, of bytes: [UInt8]) -> ArraySlice<UInt8> {
        let start = bytes[..<end].lastIndex { !JSONParser.isWhitespace($0) }
        return bytes[(start.map { $0 + 1 } ?? 0)..<end]
    }
}
