extension PayloadValue {
    /// The `userInfo` of a notification, as iOS hands it over.
    ///
    /// Its dictionaries have no order: members are sorted by their keys. What JSON has no word for is left out, and so
    /// is what lies deeper than `Limits.payloadDepthMax`.
    public init(userInfo: [AnyHashable: Any]) {
        self = Self.object(userInfo, depth: 1)
    }

    private static func object(_ dictionary: [AnyHashable: Any], depth: Int) -> PayloadValue {
        let members = dictionary.compactMap { key, value -> PayloadMember? in
            guard let key = key.base as? String, let value = Self.value(value, depth: depth) else { return nil }
            return PayloadMember(key, value)
        }
        return .object(members.sorted { $0.key < $1.key })
    }

    private static func value(_ value: Any, depth: Int) -> PayloadValue? {
        if let text = value as? String { return .string(text) }
        if let scalar = scalar(value) { return scalar }
        guard depth < Limits.payloadDepthMax else { return nil }
        // Bounded: the caller's depth, which ends at a limit.
        if let dictionary = value as? [AnyHashable: Any] { return object(dictionary, depth: depth + 1) }
        guard let elements = value as? [Any] else { return nil }
        // Bounded: the caller's depth, which ends at a limit.
        return .array(elements.compactMap { Self.value($0, depth: depth + 1) })
    }

    /// By casts and class names alone, the same on a phone and on Linux: with NSNumber by its name, all of Foundation
    /// would be part of the media children, which read no payloads.
    private static func scalar(_ value: Any) -> PayloadValue? {
        switch "\(type(of: value))" {
        case "NSNull": .null
        // A number of 0 or 1 casts to Bool as well; a boolean is an object of its own class.
        case "Bool", "__NSCFBoolean": (value as? Bool).map(PayloadValue.bool)
        default: number(value).map(PayloadValue.number)
        }
    }

    private static func number(_ value: Any) -> String? {
        // Swift's own integers cast to themselves alone, iOS's numbers to all that can hold them.
        if let number = value as? any BinaryInteger { return "\(number)" }
        if let number = value as? Int64 { return "\(number)" }
        if let number = value as? UInt64 { return "\(number)" }
        guard let number = value as? Double, number.isFinite else { return nil }
        return "\(number)"
    }
}
