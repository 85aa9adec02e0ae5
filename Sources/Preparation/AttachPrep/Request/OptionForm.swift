import AttachPrepModel
import SafeArithmetic

/// What the help of an option adds for a caller with JSON and for one with a flag: the unit, or examples.
struct OptionNotes: Sendable {
    var json = ""
    var flag = ""
}

/// How the values of one type are written: in JSON, as the text of a flag, and as a schema of the OpenAPI document.
struct OptionForm<Value: Hashable & Sendable>: Sendable {
    /// Members of the JSON schema, which allows null: `"type": ["boolean", "null"]`.
    let schema: String
    var notes = OptionNotes()
    /// Valid values as the text of a flag: limits, and what is between them.
    let examples: [String]
    /// All values as the text of a flag; empty if they cannot be listed.
    var choices: [String] = []
    /// Whether the flag has no value.
    var isSwitch = false
    /// The value of a flag's text; nil for a text of another form.
    let parse: @Sendable (String) throws -> Value?
    /// The text that is parsed to the value; empty for a value without one.
    let text: @Sendable (Value) -> String
    /// Throws `request.invalid`, or the code of the option.
    var validate: @Sendable (Value) throws -> Void = { _ in }
    /// Combines the values of a flag that is given several times; nil if the last one counts.
    var combine: (@Sendable (Value, Value) -> Value)?
    var decode: @Sendable (KeyedDecodingContainer<AnyKey>, AnyKey) throws -> Value?
    var encode: @Sendable (Value, inout KeyedEncodingContainer<AnyKey>, AnyKey) throws -> Void
}

extension OptionForm where Value: Codable {
    init(
        schema: String, notes: OptionNotes = OptionNotes(), examples: [String], choices: [String] = [],
        parse: @escaping @Sendable (String) throws -> Value?, text: @escaping @Sendable (Value) -> String,
        validate: @escaping @Sendable (Value) throws -> Void = { _ in }
    ) {
        self.init(
            schema: schema, notes: notes, examples: examples, choices: choices, parse: parse, text: text,
            validate: validate, decode: { try $0.decodeIfPresent(Value.self, forKey: $1) },
            encode: { try $1.encode($0, forKey: $2) })
    }
}

extension OptionForm where Value: JSONChoice {
    /// One of the names of a type.
    static var choice: OptionForm {
        let names = Value.allCases.map(\.rawValue)
        let listed = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return OptionForm(
            schema: "\"enum\": [\(listed), null]", examples: names, choices: names,
            parse: { Value(rawValue: $0) }, text: { $0.rawValue })
    }
}

extension OptionForm where Value == Bool {
    /// Off unless its flag is given.
    static var onOff: OptionForm {
        var form = OptionForm(
            schema: #""type": ["boolean", "null"]"#, examples: ["true"],
            parse: { $0 == "true" ? true : $0 == "false" ? false : nil }, text: { "\($0)" })
        form.isSwitch = true
        return form
    }
}

extension OptionForm where Value == String {
    /// Any text.
    static var text: OptionForm {
        OptionForm(schema: #""type": ["string", "null"]"#, examples: ["a"], parse: { $0 }, text: { $0 })
    }
}

extension OptionForm where Value == Int {
    /// A whole number.
    ///
    /// - Parameters:
    ///   - name: what a message calls the number: `limit`.
    ///   - unit: in the plural.
    static func count(_ name: String, unit: String, in range: ClosedRange<Int>) -> OptionForm {
        OptionForm(
            schema: """
                "type": ["integer", "null"], "minimum": \(range.lowerBound), "maximum": \(range.upperBound)
                """,
            examples: [range.lowerBound, min(range.upperBound, 5_000)].map(String.init),
            parse: { Int($0) }, text: { "\($0)" },
            validate: { count in
                guard !range.contains(count) else { return }
                let limit =
                    range.upperBound == .max
                    ? "at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
                throw AttachPrepError(.requestInvalid, "The \(name) of \(count) \(unit) must be \(limit).")
            },
            decode: { try $0.wholeNumber(forKey: $1) }, encode: { try $1.encode($0, forKey: $2) })
    }
}

extension OptionForm where Value == Double {
    /// A time in seconds: a number in JSON, and with a unit as a flag.
    ///
    /// - Parameters:
    ///   - name: what a message calls the time: `budget`.
    ///   - standard: the default for the schema; nil without one.
    static func seconds(_ name: String, standard: Double? = nil, max: Double) -> OptionForm {
        let standardMember = standard.map { ", \"default\": \($0.formatted)" } ?? ""
        return OptionForm(
            schema: """
                "type": ["number", "null"], "exclusiveMinimum": 0, "maximum": \(max.formatted)\(standardMember)
                """,
            notes: OptionNotes(json: ", in seconds", flag: standard == nil ? "" : ", such as 30s or 500ms"),
            examples: ["500ms", "30s", "2m"],
            parse: { Quantity.seconds($0) }, text: { "\($0.formatted)s" },
            validate: { seconds in
                guard !(seconds > 0 && seconds <= max) else { return }
                throw AttachPrepError(
                    .requestInvalid, "The \(name) of \(seconds) s must be over 0 and at most \(max) s.")
            })
    }
}

extension Double {
    /// Without a fraction if it has none.
    fileprivate var formatted: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}
