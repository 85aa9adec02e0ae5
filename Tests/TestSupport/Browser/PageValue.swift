/// A JavaScript value that JSON can hold: a result from a page, or a parameter for the browser.
///
/// ```swift
/// #expect(try await page.evaluate("[1, 'two']") == [1, "two"])
/// ```
public enum PageValue: Sendable, Hashable {
    /// Also `undefined`.
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([PageValue])
    case object([String: PageValue])

    /// The text of a string; nil for other values.
    public var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The number; nil for other values.
    public var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// Whether it is `true` itself.
    public var isTrue: Bool { self == .bool(true) }

    /// The elements of an array; empty for other values.
    public var items: [PageValue] { if case .array(let items) = self { items } else { [] } }

    /// A member of an object; null when it is missing.
    public subscript(name: String) -> PageValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }

    /// An element of an array, from 0; null when it is missing.
    public subscript(index: Int) -> PageValue { items.indices.contains(index) ? items[index] : .null }
}

extension PageValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Strings first: they are the most frequent, and a screenshot is a long one.
        if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if container.decodeNil() {
            self = .null
        } else if let members = try? container.decode([String: PageValue].self) {
            self = .object(members)
        } else {
            self = .array(try container.decode([PageValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let items): try container.encode(items)
        case .object(let members): try container.encode(members)
        }
    }
}

extension PageValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral text: String) { self = .string(text) }
    public init(integerLiteral number: Int) { self = .number(Double(number)) }
    public init(floatLiteral number: Double) { self = .number(number) }
    public init(booleanLiteral bool: Bool) { self = .bool(bool) }
    public init(nilLiteral: ()) { self = .null }
    public init(arrayLiteral items: PageValue...) { self = .array(items) }
    public init(dictionaryLiteral members: (String, PageValue)...) {
        self = .object(Dictionary(members) { _, last in last })
    }
}
