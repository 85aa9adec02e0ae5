import AttachPrepModel
import MediaTypes

/// Where a setting's value comes from.
enum SettingSource: Sendable, Hashable {
    case flag
    case variable
    /// A line of the file of `--config`.
    case file(String, line: Int)
}

/// The values of settings as text: flags have precedence over environment variables, and those over the file.
struct SettingValues: Sendable {
    struct Value: Sendable, Hashable {
        /// The values of a list are joined with commas.
        let text: String
        let source: SettingSource
    }

    private let values: [Setting: Value]

    /// - Parameters:
    ///   - flags: the values given on the command line; repeated flags are joined with commas.
    ///   - file: nil without `--config`.
    init(flags: [Setting: String], environment: [String: String], file: ConfigurationFile?) {
        var values: [Setting: Value] = [:]
        for setting in Setting.allCases {
            let found = [
                flags[setting].map { Value(text: $0, source: .flag) },
                environment[setting.variable].map { Value(text: $0, source: .variable) },
                file.flatMap { file in
                    file.entries[setting].map { Value(text: $0.text, source: .file(file.path, line: $0.line)) }
                },
            ]
            // An empty variable counts as missing: a unit or a manifest cannot remove one that it inherits.
            values[setting] = found.lazy.compactMap(\.self).first { !$0.text.isEmpty }
        }
        self.values = values
    }

    subscript(setting: Setting) -> Value? { values[setting] }

    /// How messages call a setting: by the flag, the variable, or the file's key and line that it came from.
    func name(of setting: Setting) -> String {
        switch values[setting]?.source {
        case .flag, nil: setting.flag
        case .variable: setting.variable
        case .file(let path, let line): "\(setting.key) (\(path):\(line))"
        }
    }

    /// Adds the name of where a setting's value came from to the message of an error.
    func naming<Value>(_ setting: Setting, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as AttachPrepError {
            throw AttachPrepError(
                .requestInvalid, "Invalid value for \(name(of: setting)). \(error.message)", detail: error.detail)
        }
    }
}
