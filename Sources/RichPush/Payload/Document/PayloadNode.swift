/// A value of a JSON text, and where it stands there.
struct PayloadNode: Sendable, Hashable {
    enum Content: Sendable, Hashable {
        case object([PayloadNodeMember])
        case array([PayloadNode])
        case string(String)
        case number(String)
        case bool(Bool)
        case null
    }

    /// Its first byte to its last one; of a string with the quotes.
    let range: Range<Int>
    let content: Content
}

/// A member of an object, and where its key stands.
struct PayloadNodeMember: Sendable, Hashable {
    let key: String
    /// With the quotes.
    let keyRange: Range<Int>
    let node: PayloadNode
}

extension PayloadNode {
    var value: PayloadValue {
        switch content {
        case .object(let members): .object(members.map { PayloadMember($0.key, $0.node.value) })
        case .array(let elements): .array(elements.map(\.value))
        case .string(let text): .string(text)
        case .number(let text): .number(text)
        case .bool(let value): .bool(value)
        case .null: .null
        }
    }

    /// As sentences call it.
    var noun: String {
        switch content {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool: "a boolean"
        case .null: "null"
        }
    }

    /// From the first byte of a member's key, or of an element, to the last of its value; empty for what holds nothing.
    var children: [Range<Int>] {
        switch content {
        case .object(let members): members.map { $0.keyRange.lowerBound..<$0.node.range.upperBound }
        case .array(let elements): elements.map(\.range)
        case .string, .number, .bool, .null: []
        }
    }

    /// Which child a step leads to; nil where it leads nowhere.
    func place(of step: PayloadPath.Step) -> Int? {
        switch (content, step) {
        case (.object(let members), .key(let key)): members.firstIndex { $0.key == key }
        case (.array(let elements), .index(let index)): elements.indices.contains(index) ? index : nil
        default: nil
        }
    }

    /// The value of a child.
    func child(_ place: Int) -> PayloadNode? {
        switch content {
        case .object(let members): members[place].node
        case .array(let elements): elements[place]
        case .string, .number, .bool, .null: nil
        }
    }
}
