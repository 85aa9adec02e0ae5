internal import MediaTypes
internal import SafeArithmetic

/// Explains why a JSON text from outside was rejected, so that its message alone is enough to correct it: the line and
/// column or the path of the key, the value, what it must be, and the likely cause.
package struct JSONDiagnosis: Sendable {
    /// How the text was sent, which decides the advice.
    package enum Form: Sendable, Hashable {
        /// A text of its own, and the media type under which several are accepted, one a line; nil if none are.
        case whole(linesMediaType: String?)
        /// A line of JSON Lines, counted from 1.
        case line(Int)
    }

    private let subject: String
    private let form: Form
    /// What to send, as the object of a sentence.
    private let expected: String

    /// - Parameters:
    ///   - subject: what messages call the text, as the subject of a sentence: `The request`.
    ///   - example: the shortest valid text; nil without one.
    package init(of subject: String, _ form: Form = .whole(linesMediaType: nil), example: String? = nil) {
        (self.subject, self.form) = (subject, form)
        expected = "an object" + (example.map { " such as \($0)" } ?? "")
    }

    /// The error `request.invalid` for a text that could not be decoded.
    package func error(_ error: DecodingError, in bytes: [UInt8]) -> AttachPrepError {
        AttachPrepError(.requestInvalid, sentence(error, bytes: bytes), detail: "\(error)")
    }

    /// The errors `request.invalid` for elements of a list that could not be decoded; nil for those without an error.
    package func errors(_ errors: [DecodingError?], ofElementsIn bytes: [UInt8]) -> [AttachPrepError?] {
        guard errors.contains(where: { $0 != nil }) else { return errors.map { _ in nil } }
        var parser = JSONParser(bytes, subject: subject, firstLine: firstLine)
        let root = try? parser.top()
        return errors.enumerated().map { index, error in
            guard let error, let element = root?.child(index) else { return nil }
            // Paths begin with the element, which is the subject of its sentence.
            let own = error.droppingFirstOfPath
            return AttachPrepError(.requestInvalid, sentence(own, root: element), detail: "\(error)")
        }
    }

    private func sentence(_ error: DecodingError, bytes: [UInt8]) -> String {
        var parser = JSONParser(bytes, subject: subject, firstLine: firstLine)
        do {
            return sentence(error, root: try parser.top())
        } catch let syntax {
            if ForeignJSON.isWide(bytes) { return "\(subject) is UTF-16 or UTF-32; send it as UTF-8." }
            return [syntax.message, cause(bytes, parser: parser)].compactMap(\.self).joined(separator: " ")
        }
    }

    private var firstLine: Int {
        if case .line(let number) = form { number } else { 1 }
    }

    // MARK: Not JSON

    /// The likely cause of a syntax error, as a sentence; nil where the parser's remedy says enough.
    private func cause(_ bytes: [UInt8], parser: JSONParser) -> String? {
        let text = bytes.drop(while: JSONParser.isWhitespace)
        switch form {
        case .line:
            let isWhole = text.last { !JSONParser.isWhitespace($0) } == UInt8(ascii: "}")
            return isWhole ? nil : "In JSON Lines, each line is one whole object, without a comma after it."
        case .whole(let linesMediaType):
            if let end = parser.valueEnd, bytes[end...].contains(UInt8(ascii: "{")) {
                return linesMediaType.map { "Several objects, one a line, are sent as \($0)." }
            }
            return origin(of: text)
        }
    }

    /// What a text that is not JSON looks like.
    private func origin(of text: ArraySlice<UInt8>) -> String? {
        switch text.first {
        case UInt8(ascii: "<"): return "It looks like HTML or XML; send \(expected)."
        case UInt8(ascii: "@"): return "It looks like the name of a file; send the content of the file."
        case UInt8(ascii: "-") where text.dropFirst().first == UInt8(ascii: "-"):
            return "It looks like a multipart form; send \(expected)."
        case 0x1F: return "It looks compressed; send it uncompressed."
        default: break
        }
        let name = text.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "\"") }
        let isForm = !name.isEmpty && text.dropFirst(name.count).first == UInt8(ascii: "=")
        if isForm { return "It looks like a form; send \(expected)." }
        return text.starts(with: "http".utf8) ? "It looks like a URL; send \(expected)." : nil
    }

    // MARK: JSON of another form

    private func sentence(_ error: DecodingError, root: JSONNode) -> String {
        guard case .object = root.content else { return "\(subject) is \(root.noun); \(remedy(root))." }
        switch error {
        case .keyNotFound(let key, let context):
            return "\(subjectAt(context.codingPath)) lacks the required key \(Self.quoted(key.stringValue))."
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            return wrong(context, expected: ExpectedValueError(text: Self.noun(type), choices: []), root: root)
        case .dataCorrupted(let context):
            if let expected = context.underlyingError as? ExpectedValueError {
                return wrong(context, expected: expected, root: root)
            }
            if let problem = ForeignJSON.problem(error) { return "\(subject) \(problem)." }
            return "\(subjectAt(context.codingPath)) is not the expected JSON; see /openapi.json."
        @unknown default: return "\(subject) is not the expected JSON object; see /openapi.json."
        }
    }

    private func remedy(_ root: JSONNode) -> String {
        switch (root.content, form) {
        case (.array, .line): return "write one object a line"
        case (.array, .whole(let type?)):
            return "send one object, or several as \(type): each on a line of its own, without brackets and commas"
        case (.string(let text), _) where text.utf8.first == UInt8(ascii: "{"):
            return "the JSON was encoded twice, so send the object itself"
        default: return "send \(expected)"
        }
    }

    private func wrong(_ context: DecodingError.Context, expected: ExpectedValueError, root: JSONNode) -> String {
        let node = Self.node(at: context.codingPath, in: root)
        var sentence = "\(subjectAt(context.codingPath)) must be \(expected.text)"
        if let node { sentence += ", not \(Self.description(of: node))" }
        if case .string(let text)? = node?.content, let meant = Suggestion.nearest(to: text, of: expected.choices) {
            return "\(sentence); did you mean \"\(meant)\"?"
        }
        return "\(sentence)."
    }

    private func subjectAt(_ path: [any CodingKey]) -> String {
        path.isEmpty ? subject : "\(subject)'s \(Self.quoted(Self.text(of: path)))"
    }

    private static func quoted(_ text: String) -> String { "\"\(MessageText.excerpt(text))\"" }

    /// The path as `options.crop` or `states[1]`.
    package static func text(of path: [any CodingKey]) -> String {
        path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + MessageText.excerpt(key.stringValue, bytesMax: Limits.shownBytesMax)
            }
        }
    }

    private static func node(at path: [any CodingKey], in root: JSONNode) -> JSONNode? {
        path.reduce(root) { node, key in
            let step = key.intValue.map(PayloadPath.Step.index) ?? .key(key.stringValue)
            return node?.index(of: step).flatMap { node?.child($0) }
        }
    }

    /// The value as it is shown: `the string "300"`, `the number 3.5`, `an array`.
    private static func description(of node: JSONNode) -> String {
        switch node.content {
        case .string(let text): "the string \"\(MessageText.excerpt(text, bytesMax: Limits.shownBytesMax))\""
        case .number(let text): "the number \(MessageText.excerpt(text, bytesMax: Limits.shownBytesMax))"
        case .bool(let value): "\(value)"
        case .object, .array, .null: node.noun
        }
    }

    /// What a JSON value of a Swift type is called.
    private static func noun(_ type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any BinaryInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [Any].Type, is [String].Type: "an array"
        case is [String: Any].Type, is [String: String].Type: "an object"
        default: "of another type"
        }
    }
}

/// What a value must be, where its type alone does not say it.
private struct ExpectedValueError: Error, Sendable {
    /// As the end of a sentence: `one of high, normal, bulk`.
    let text: String
    /// The accepted strings, if there is a list of them.
    let choices: [String]
}

extension DecodingError {
    /// The same error without the first step of its path.
    fileprivate var droppingFirstOfPath: DecodingError {
        func shorter(_ context: Context) -> Context {
            Context(
                codingPath: Array(context.codingPath.dropFirst()), debugDescription: context.debugDescription,
                underlyingError: context.underlyingError)
        }
        switch self {
        case .keyNotFound(let key, let context): return .keyNotFound(key, shorter(context))
        case .typeMismatch(let type, let context): return .typeMismatch(type, shorter(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, shorter(context))
        case .dataCorrupted(let context): return .dataCorrupted(shorter(context))
        @unknown default: return self
        }
    }

    /// The error for a value that must be something else, as the end of a sentence: `a number or "auto"`.
    package static func expected(_ text: String, at path: [any CodingKey]) -> DecodingError {
        expected(ExpectedValueError(text: text, choices: []), path: path)
    }

    /// The error for a value that must be one of a list of strings.
    package static func expected(oneOf choices: [String], at path: [any CodingKey]) -> DecodingError {
        let text =
            choices.count <= Limits.listedChoicesMax
            ? "one of \(choices.joined(separator: ", "))" : "one of the \(choices.count) values in /openapi.json"
        return expected(ExpectedValueError(text: text, choices: choices), path: path)
    }

    private static func expected(_ value: ExpectedValueError, path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(.init(codingPath: path, debugDescription: "must be \(value.text)", underlyingError: value))
    }
}

extension KeyedDecodingContainer {
    /// A whole number; nil without a value. `JSONDecoder` reports a fraction without the path of its key.
    package func wholeNumber(forKey key: Key) throws -> Int? {
        do {
            return try decodeIfPresent(Int.self, forKey: key)
        } catch DecodingError.typeMismatch(let type, let context) {
            throw DecodingError.typeMismatch(type, context)
        } catch {
            throw DecodingError.expected("a whole number of at most 64 bits", at: codingPath + [key])
        }
    }
}

/// A set of names in JSON; the error for another value lists them.
public protocol JSONChoice: RawRepresentable<String>, CaseIterable, Codable {}

extension JSONChoice {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let text = try? value.decode(String.self), let choice = Self(rawValue: text) else {
            throw DecodingError.expected(oneOf: Self.allCases.map(\.rawValue), at: decoder.codingPath)
        }
        self = choice
    }
}

extension Limits {
    /// Bytes of a key or value in a message about a JSON text.
    static let shownBytesMax = 80
    /// Values of a list that are all named in a message; there are more error codes and media formats than fit.
    package static let listedChoicesMax = 20
}
