/// The parts that schemas are put together of.
enum Schema {
    /// An object with these members and no others; all have to be there but the optional ones.
    static func object(_ members: [String: JSONValue], optional: Set<String> = []) -> JSONValue {
        [
            "type": "object", "additionalProperties": false, "properties": .object(members),
            "required": .list(members.keys.filter { !optional.contains($0) }.sorted().map(JSONValue.text)),
        ]
    }

    /// An object that has all these members, and may have others later.
    static func growing(_ members: [String: JSONValue]) -> JSONValue {
        var schema = object(members)
        schema["additionalProperties"] = true
        return schema
    }

    static func text(_ description: String, format: String? = nil) -> JSONValue {
        var schema: JSONValue = ["type": "string", "description": .text(description)]
        if let format { schema["format"] = .text(format) }
        return schema
    }

    static func list(_ schema: String) -> JSONValue {
        ["type": "array", "items": ["$ref": "#/components/schemas/\(schema)"]]
    }

    static func orNull(_ schema: String) -> JSONValue {
        ["oneOf": [["$ref": "#/components/schemas/\(schema)"], ["type": "null"]]]
    }

    static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> JSONValue
    where Word.RawValue == String {
        .list(Word.allCases.map { .text($0.rawValue) })
    }

    /// What an object is that has at least one of these members, null being as good as none: a rule that leaves the
    /// object a plain one for generated clients, which make a union of an `anyOf`.
    static func notEmpty(_ members: [String]) -> JSONValue {
        ["properties": .object(Dictionary(uniqueKeysWithValues: members.map { ($0, ["type": "null"]) }))]
    }

    /// One of the words, or null.
    static func choice<Word: RawRepresentable & CaseIterable>(_ type: Word.Type, _ description: String) -> JSONValue
    where Word.RawValue == String {
        ["description": .text(description), "enum": .list(Word.allCases.map { .text($0.rawValue) } + [.null])]
    }

    static let time: JSONValue = ["type": "string", "format": "date-time"]
    static let timeOrNull: JSONValue = ["type": ["string", "null"], "format": "date-time"]
    static let digest: JSONValue = ["type": "string", "pattern": "^[0-9a-f]{64}$"]
    static let digestOrNull: JSONValue = ["type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"]
    static let textOrNull: JSONValue = ["type": ["string", "null"]]
    static let wholeOrNull: JSONValue = ["type": ["integer", "null"], "minimum": 0]
    static let numberOrNull: JSONValue = ["type": ["number", "null"], "minimum": 0]
    static let side: JSONValue = ["type": "integer", "minimum": 1]
}
