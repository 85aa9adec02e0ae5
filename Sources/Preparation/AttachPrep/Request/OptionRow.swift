import AttachPrepModel
import FoundationEssentials

/// A value with options, and what it is without any.
protocol OptionHolder: Sendable {
    static var standard: Self { get }
}

/// One option of a request: its key, flag, help, form and default, of which each stands here and nowhere else.
///
/// From a row come how the option is read from JSON and from the command line, its validation, its members of the
/// OpenAPI document, its line in the documents, and the values that tests and fuzzing try.
package struct OptionRow<Root: Sendable>: Sendable {
    package let facts: OptionFacts
    let decode: @Sendable (inout Root, KeyedDecodingContainer<AnyKey>) throws -> Void
    let encode: @Sendable (Root, inout KeyedEncodingContainer<AnyKey>) throws -> Void
    /// Throws `request.invalid`, or the code of the option.
    let validate: @Sendable (Root) throws -> Void
    /// Takes the text of the flag; false for a text of another form. Throws as `validate`.
    package let parse: @Sendable (inout Root, String) throws -> Bool
    /// The text of the flag for the value; nil for the default.
    package let text: @Sendable (Root) -> String?
}

extension OptionRow where Root: OptionHolder {
    /// - Parameters:
    ///   - flag: The name of the flag without dashes; nil for the key, with dashes between its words.
    ///   - isAlwaysWritten: Whether the default is written into JSON as well. The id of a request is the hash of its
    ///     JSON, so an option that is added later leaves the default out.
    init<Value>(
        _ key: String, at path: any WritableKeyPath<Root, Value> & Sendable, form: OptionForm<Value>,
        flag: String? = nil, valueName: String? = nil, isAlwaysWritten: Bool = false, help: String
    ) {
        self.init(
            key, form: form, flag: flag, valueName: valueName, isAlwaysWritten: isAlwaysWritten, help: help,
            standard: Root.standard[keyPath: path], get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }

    /// An option without a default.
    init<Value>(
        _ key: String, optional path: any WritableKeyPath<Root, Value?> & Sendable, form: OptionForm<Value>,
        flag: String? = nil, valueName: String? = nil, help: String
    ) {
        self.init(
            key, form: form, flag: flag, valueName: valueName, isAlwaysWritten: false, help: help,
            standard: nil, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }

    private init<Value>(
        _ key: String, form: OptionForm<Value>, flag: String?, valueName: String?, isAlwaysWritten: Bool,
        help: String, standard: Value?, get: @escaping @Sendable (Root) -> Value?,
        set: @escaping @Sendable (inout Root, Value) -> Void
    ) {
        let defaultText = standard.map(form.text)
        facts = OptionFacts(
            key: key, flag: flag ?? Self.dashed(key), help: help, notes: form.notes, valueName: valueName,
            schema: form.schema, examples: form.examples,
            defaultText: form.isSwitch || defaultText?.isEmpty == true ? nil : defaultText, choices: form.choices,
            isSwitch: form.isSwitch, isRepeatable: form.combine != nil)
        let name = AnyKey(stringValue: key)
        decode = { root, values in
            if let value = try form.decode(values, name) { set(&root, value) }
        }
        encode = { root, values in
            guard let value = get(root), isAlwaysWritten || value != standard else { return }
            try form.encode(value, &values, name)
        }
        validate = { root in
            if let value = get(root) { try form.validate(value) }
        }
        parse = { root, text in
            guard let value = try form.parse(text) else { return false }
            set(&root, get(root).flatMap { form.combine?($0, value) } ?? value)
            return true
        }
        text = { root in get(root).flatMap { $0 == standard ? nil : form.text($0) } }
    }

    /// `max-bytes` for `maxBytes`.
    private static func dashed(_ key: String) -> String {
        key.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" }
    }
}

extension OptionRow {
    /// The row as an option of the value that has the root as a member.
    func inside<Outer>(_ path: any WritableKeyPath<Outer, Root> & Sendable) -> OptionRow<Outer> {
        let row = self
        return OptionRow<Outer>(
            facts: row.facts,
            decode: { try row.decode(&$0[keyPath: path], $1) }, encode: { try row.encode($0[keyPath: path], &$1) },
            validate: { try row.validate($0[keyPath: path]) }, parse: { try row.parse(&$0[keyPath: path], $1) },
            text: { row.text($0[keyPath: path]) })
    }
}

/// What a row says about its option, for the command, the OpenAPI document and tests.
package struct OptionFacts: Sendable {
    /// The key in JSON.
    package let key: String
    /// The name of the flag, without dashes.
    package let flag: String
    /// What the option is for, without a period at its end.
    fileprivate let help: String
    fileprivate let notes: OptionNotes
    /// The placeholder of the flag's value; nil for its name.
    package let valueName: String?
    /// Members of the JSON schema.
    fileprivate let schema: String
    /// Valid values as the text of the flag.
    package let examples: [String]
    /// The default as the text of the flag; nil without one.
    package let defaultText: String?
    /// All values as the text of the flag; empty if they cannot be listed.
    package let choices: [String]
    /// Whether the flag has no value.
    package let isSwitch: Bool
    /// Whether the flag can be given several times.
    package let isRepeatable: Bool

    /// The help of the flag.
    package var flagHelp: String { "\(help)\(notes.flag).\(defaultText.map { " (default: \($0))" } ?? "")" }

    /// What the flag takes, as the object of a sentence.
    package var expected: String {
        choices.isEmpty ? "a value such as \(examples.last ?? "")" : choices.joined(separator: " or ")
    }

    /// The option as a member of `properties` in the OpenAPI document.
    fileprivate func property() throws -> String {
        let name = try JSONEncoder.singleLine.text(key)
        return "\(name): {\(schema), \"description\": \(try JSONEncoder.singleLine.text(help + notes.json))}"
    }
}

extension [OptionFacts] {
    /// The options as `properties` of an object in the OpenAPI document.
    package func properties() throws -> String { "{\(try map { try $0.property() }.joined(separator: ", "))}" }
}
