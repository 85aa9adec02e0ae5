/// A JSON value that keeps the order of object members and the spelling of numbers.
///
/// Keys of an object are unique; the parser rejects duplicates.
public indirect enum PayloadValue: Sendable, Hashable {
    case object([PayloadMember])
    case array([PayloadValue])
    case string(String)
    /// A number as written: `1`, `1.0`, `1e0`.
    case number(String)
    case bool(Bool)
    case null
}

/// A member of an object: key and value.
public struct PayloadMember: Sendable, Hashable {
    public var key: String
    public var value: PayloadValue

    public init(_ key: String, _ value: PayloadValue) {
        self.key = key
        self.value = value
    }
}

extension PayloadValue {
    /// The value of a key; nil when this is not an object or has no such key.
    public subscript(key: String) -> PayloadValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The element at an index, from 0; nil when this is not an array or has no such element.
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

    /// The number; nil when this is not a number or is out of the range of Double.
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

/// The path to a value of a payload, from the top.
public struct PayloadPath: Sendable, Hashable {
    public enum Step: Sendable, Hashable {
        case key(String)
        /// An element of an array, from 0.
        case index(Int)
        /// Into the JSON text in a string.
        case text
    }

    public var steps: [Step]

    public init(_ steps: [Step] = []) {
        self.steps = steps
    }

    public func appending(_ step: Step) -> PayloadPath { PayloadPath(steps + [step]) }

    /// The path of the containing value; nil for the top.
    public var parent: PayloadPath? { steps.isEmpty ? nil : PayloadPath(Array(steps.dropLast())) }
}

/// The form in messages: `aps.image`, `_wp.attachments[0].url`, `krt_attributes.attachment_url`.
extension PayloadPath: CustomStringConvertible {
    public var description: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .index(let index): text += "[\(index)]"
            case .text: break
            }
        }
    }
}
