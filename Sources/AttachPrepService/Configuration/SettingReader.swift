import Configuration
import RichPush

/// Settings as they were given: flags first, then the environment. What cannot be read names its flag or variable.
struct SettingReader {
    private let flags: ConfigReader
    private let environment: ConfigReader

    /// - Parameter flags: what stood on the command line; several values of one flag are joined by commas.
    init(flags: [Setting: String], environment: [String: String]) {
        let values = flags.map { (AbsoluteConfigKey($0.key.words), ConfigValue(.string($0.value), isSecret: false)) }
        self.flags = ConfigReader(
            provider: InMemoryProvider(values: Dictionary(uniqueKeysWithValues: values)))
        self.environment = ConfigReader(
            provider: EnvironmentVariablesProvider(environmentVariables: environment, secretsSpecifier: .all))
    }

    /// A value and the name under which it was given; an empty one counts as none.
    func text(_ setting: Setting) -> (value: String, name: String)? {
        let key = ConfigKey(setting.words)
        if let value = flags.string(forKey: key), !value.isEmpty { return (value, setting.flag) }
        guard let value = environment.string(forKey: key, isSecret: setting.isSecret), !value.isEmpty else {
            return nil
        }
        return (value, setting.variable)
    }

    func value<Value>(_ setting: Setting, _ remedy: String, _ read: (String) -> Value?) throws -> Value? {
        guard let (text, name) = text(setting) else { return nil }
        if let value = read(text) { return value }
        let shown = setting.isSecret ? "what it says" : "\"\(text)\""
        throw AttachPrepError(.requestInvalid, "\(name) cannot be \(shown); \(remedy)")
    }

    func whole(_ setting: Setting, _ range: ClosedRange<Int>) throws -> Int? {
        try value(setting, "give a whole number from \(range.lowerBound) to \(range.upperBound).") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func seconds(_ setting: Setting, _ range: ClosedRange<Double>) throws -> Double? {
        try value(setting, "give a time as in 20s, 10m, 12h or 7d.") {
            Quantity.seconds($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ setting: Setting, _: Choice.Type) throws -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(setting, "it is one of \(words).") { Choice(rawValue: $0.lowercased()) }
    }

    func isOn(_ setting: Setting) throws -> Bool {
        try value(setting, "it is true or false.") { text -> Bool? in
            switch text.lowercased() {
            case "true", "yes", "1", "on": true
            case "false", "no", "0", "off": false
            default: nil
            }
        } ?? false
    }

    /// The parts between commas.
    func list(_ setting: Setting) -> [String] {
        (text(setting)?.value ?? "").split(separator: ",").map { $0.trimmed }.filter { !$0.isEmpty }
    }
}

extension Substring {
    /// Without the white space around it.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count))
    }
}
