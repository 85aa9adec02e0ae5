/// A value of a JSON text and its byte range.
package struct JSONNode: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        case object([JSONNodeMember])
        case array([JSONNode])
        case string(String)
        case number(String)
        case bool(Bool)
        case null
    }

    /// The byte range; for a string, including the quotes.
    package let range: Range<Int>
    package let content: Content
}

/// A member of an object, and the byte range of its key.
package struct JSONNodeMember: Sendable, Hashable {
    package let key: String
    /// Including the quotes.
    package let keyRange: Range<Int>
    package let node: JSONNode
}

extension JSONNode {
    package var value: PayloadValue {
        switch content {
        case .object(let members): .object(members.map { PayloadMember($0.key, $0.node.value) })
        case .array(let elements): .array(elements.map(\.value))
        case .string(let text): .string(text)
        case .number(let text): .number(text)
        case .bool(let value): .bool(value)
        case .null: .null
        }
    }

    /// The kind of value, for error messages.
    package var noun: String {
        switch content {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "a boolean"
        case .null: "null"
        }
    }

    /// The byte ranges of the members (key and value) or elements; empty for other values.
    package var children: [Range<Int>] {
        switch content {
        case .object(let members): members.map { $0.keyRange.lowerBound..<$0.node.range.upperBound }
        case .array(let elements): elements.map(\.range)
        case .string, .number, .bool, .null: []
        }
    }

    /// The index of the child at a step; nil when there is none.
    package func index(of step: PayloadPath.Step) -> Int? {
        switch (content, step) {
        case (.object(let members), .key(let key)): members.firstIndex { $0.key == key }
        case (.array(let elements), .index(let index)): elements.indices.contains(index) ? index : nil
        default: nil
        }
    }

    /// The child at an index; nil for values without children.
    package func child(_ index: Int) -> JSONNode? {
        switch content {
        case .object(let members): members[index].node
        case .array(let elements): elements[index]
        case .string, .number, .bool, .null: nil
        }
    }
}
