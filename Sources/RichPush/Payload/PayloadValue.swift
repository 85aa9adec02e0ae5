/// A value of a payload: JSON whose objects keep their order and whose numbers keep their spelling.
///
/// An object has no key twice: what reads payloads refuses those that have.
public indirect enum PayloadValue: Sendable, Hashable {
    case object([PayloadMember])
    case array([PayloadValue])
    case string(String)
    /// As it is written: `1`, `1.0`, `1e0`.
    case number(String)
    case bool(Bool)
    case null
}

/// A key of an object, and what stands there.
public struct PayloadMember: Sendable, Hashable {
    public var key: String
    public var value: PayloadValue

    public init(_ key: String, _ value: PayloadValue) {
        self.key = key
        self.value = value
    }
}

extension PayloadValue {
    /// What stands at a key; nil where there is no object or no such key.
    public subscript(key: String) -> PayloadValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// An element of an array, from 0; nil where there is no array or no such element.
    public subscript(index: Int) -> PayloadValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// A number's value; nil for what is none, and for one that no Double holds.
    public var double: Double? {
        guard case .number(let text) = self, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    public var elements: [PayloadValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    public var members: [PayloadMember]? {
        if case .object(let members) = self { members } else { nil }
    }
}
