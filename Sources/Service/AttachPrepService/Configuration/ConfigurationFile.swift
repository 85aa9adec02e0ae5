import AttachPrepModel
import Glibc
import Linux
import MediaTypes
import SafeArithmetic
import Yams

/// The file of `--config`: YAML, in which each key is the name of a setting, checked against the table of settings.
///
/// ```yaml
/// base-url: https://media.example/push
/// max-queue: 20000
/// allow-callback-network: [10.2.0.0/16, 10.3.0.0/16]
/// ```
/// Settings need one level of keys with strings, numbers, Booleans and lists of strings, and nothing else. Nested keys,
/// anchors and aliases are rejected (`YAMLStructure`), so that no small file can become a large one.
struct ConfigurationFile: Sendable {
    /// The text of a value, and where it stands.
    struct Entry: Sendable, Hashable {
        /// The values of a list are joined with commas.
        let text: String
        /// Counted from 1.
        let line: Int
    }

    let path: String
    let entries: [Setting: Entry]

    /// Reads and checks a file.
    ///
    /// - Throws: `request.invalid`, with a message that names the file, the line, and what to do.
    init(_ path: String) throws {
        try self.init(bytes: Self.content(of: path), path: path)
    }

    /// - Parameter path: for messages.
    init(bytes: [UInt8], path: String) throws {
        self.path = path
        let text = try Self.text(bytes, path: path)
        try YAMLStructure.check(text, path)
        guard let root = try Self.root(of: text, path) else {
            entries = [:]
            return
        }
        guard let mapping = root.mapping else {
            throw Self.error(
                path, node: root, message: "The file is not a list of keys and values; write `key: value` on each line."
            )
        }
        entries = try Self.entries(mapping, path: path)
    }

    // MARK: YAML

    private static func text(_ bytes: [UInt8], path: String) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains("\0") else {
            throw AttachPrepError(
                .requestInvalid, "The configuration file \(path) is not text in UTF-8; save it in that encoding.")
        }
        guard CombiningMarks.areBounded(in: text) else {
            throw AttachPrepError(
                .requestInvalid,
                "The configuration file \(path) has more than \(CombiningMarks.runMax) combining marks on one "
                    + "character; remove them.")
        }
        return text
    }

    /// The document's root; nil for a file of comments or an empty document.
    private static func root(of text: String, _ path: String) throws -> Node? {
        do {
            return try Parser(yaml: text).singleRoot().flatMap { $0.scalar.map(isNull) == true ? nil : $0 }
        } catch let error as YamlError {
            throw Self.error(path, error: error)
        }
    }

    private static func error(_ path: String, error: YamlError) -> AttachPrepError {
        switch error {
        case .duplicatedKeysInMapping(let keys, let context):
            let listed = keys.sorted().map { "\"\($0.prefix(80))\"" }.joined(separator: ", ").escapingControls
            return AttachPrepError(
                .requestInvalid,
                "\(path):\(context.mark.line): The file has the key \(listed) twice in one object; parsers differ on "
                    + "which one counts, so keep one.")
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return AttachPrepError(
                .requestInvalid,
                "\(path):\(mark.line): The file is not valid YAML at column \(mark.column); write `key: value` on each "
                    + "line, and texts with special characters in quotes.",
                detail: problem)
        default:
            return AttachPrepError(
                .requestInvalid, "The configuration file \(path) is not valid YAML; write `key: value` on each line.",
                detail: "\(error)")
        }
    }

    private static func error(_ path: String, node: Node, message: String) -> AttachPrepError {
        AttachPrepError(.requestInvalid, "\(path):\(node.mark?.line ?? 1): \(message)")
    }

    // MARK: Keys

    private static func entries(_ mapping: Node.Mapping, path: String) throws -> [Setting: Entry] {
        var entries: [Setting: Entry] = [:]
        for (node, value) in mapping {
            guard let key = node.scalar?.string else {
                throw error(path, node: node, message: "A key is not text; write `key: value`.")
            }
            guard let setting = Setting(key: key) else { throw unknownError(path, node: node, key: key) }
            entries[setting] = Entry(text: try text(of: value, for: setting, path), line: node.mark?.line ?? 1)
        }
        return entries
    }

    private static func unknownError(_ path: String, node: Node, key: String) -> AttachPrepError {
        if key == Setting.config.rawValue {
            return error(path, node: node, message: "A configuration file cannot name another one; remove `config`.")
        }
        let keys = Setting.allCases.filter(\.isFileKey).map(\.key)
        // Underscores and capitals are the usual mistakes, since variables and other programs have them.
        let typed = String(key.prefix(80)).lowercased().replacing("_", with: "-")
        let nearest = EditDistance.nearest(to: typed, of: keys).map { " Did you mean \"\($0)\"?" }
        return error(
            path, node: node,
            message: "Unknown key \"\(String(key.prefix(80)).escapingControls)\"."
                + (nearest ?? " The keys are the options of attachprep serve without their dashes."))
    }

    /// The text of a value in the setting's form: a list for a setting that has several values, else one value.
    private static func text(of value: Node, for setting: Setting, _ path: String) throws -> String {
        let example = setting.isList ? "\(setting.key): [one, other]" : "\(setting.key): value"
        switch value {
        case .scalar(let scalar):
            guard !isNull(scalar) else {
                throw error(
                    path, node: value, message: "The key \"\(setting.key)\" has no value; give one or remove the line.")
            }
            guard !setting.isList else {
                throw error(
                    path, node: value, message: "The value of \"\(setting.key)\" is not a list; write `\(example)`.")
            }
            return scalar.string
        case .sequence(let values):
            guard setting.isList else {
                throw error(
                    path, node: value, message: "The value of \"\(setting.key)\" is a list; write `\(example)`.")
            }
            return try values.map { one in
                guard let scalar = one.scalar, !isNull(scalar) else {
                    throw error(
                        path, node: one,
                        message: "A value of the list \"\(setting.key)\" is not text; write `\(example)`.")
                }
                return scalar.string
            }.joined(separator: ",")
        default:
            throw error(
                path, node: value, message: "The value of \"\(setting.key)\" has keys of its own; write `\(example)`.")
        }
    }

    /// Whether a value is missing: YAML's null.
    private static func isNull(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }
}

extension ConfigurationFile {
    /// - Throws: `request.invalid`; also for a pipe, which a reload could not read again.
    private static func content(of path: String) throws(AttachPrepError) -> [UInt8] {
        do { return try SmallFile.bytes(of: path, bytesMax: Limits.configurationFileBytesMax, isRegular: true) } catch {
            throw AttachPrepError(.requestInvalid, "The configuration file \(path) \(reason(error)).")
        }
    }

    private static func reason(_ error: SmallFileError) -> String {
        switch error {
        case .tooLarge, .lineTooLong: "is larger than \(Limits.configurationFileBytesMax) bytes; shorten it"
        case .notRegular: "is not a regular file; name one"
        case .unreadable(ENOENT), .unreadable(ENOTDIR): "does not exist; correct its path"
        case .unreadable(EACCES): "is not readable by this user; correct its permissions"
        case .unreadable(EISDIR): "is a folder; name a file"
        case .unreadable(let code): "cannot be read (error \(code))"
        }
    }
}

extension Limits {
    /// Bytes of a configuration file: the maximum number of the longest tokens and webhook secrets, and comments.
    static let configurationFileBytesMax = 262_144
}
