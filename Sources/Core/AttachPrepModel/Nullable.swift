/// A member of a JSON object whose key is present even when it has no value: it is then null.
///
/// Synthesized `Codable` leaves such keys out. A missing key, as older programs wrote, is read as null.
///
/// ```swift
/// struct Answer: Codable {
///     @Nullable var width: Int? = nil  // {"width": null}
/// }
/// ```
@propertyWrapper
public struct Nullable<Value: Codable & Sendable>: Codable, Sendable {
    public var wrappedValue: Value?

    public init(wrappedValue: Value?) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension Nullable: Equatable where Value: Equatable {}
extension Nullable: Hashable where Value: Hashable {}

extension KeyedDecodingContainer {
    /// Called by synthesized initializers, which do not expect that the key is missing.
    public func decode<Value>(_: Nullable<Value>.Type, forKey key: Key) throws -> Nullable<Value> {
        Nullable(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}
