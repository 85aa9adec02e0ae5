import Configuration
import Synchronization

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
        let recorder = SourceRecorder()
        let layers = Self.layers(flags, environment, file)
        let reader = ConfigReader(providers: layers.map(\.provider), accessReporter: recorder)
        var values: [Setting: Value] = [:]
        for setting in Setting.allCases {
            let key = ConfigKey([setting.key])
            let text =
                setting.isList
                ? reader.stringArray(forKey: key, isSecret: setting.isSecret)?.joined(separator: ",")
                : reader.string(forKey: key, isSecret: setting.isSecret)
            guard let text, !text.isEmpty, let index = recorder.lastIndex else { continue }
            values[setting] = Value(text: text, source: layers[index].source(setting))
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

    // MARK: Layers

    private struct Layer {
        let provider: any ConfigProvider
        let source: (Setting) -> SettingSource
    }

    /// In the order of their precedence.
    private static func layers(
        _ flags: [Setting: String], _ environment: [String: String], _ file: ConfigurationFile?
    ) -> [Layer] {
        let given = flags.filter { !$0.value.isEmpty }.map { setting, text in
            let content: ConfigContent = setting.isList ? .stringArray([text]) : .string(text)
            return (AbsoluteConfigKey([setting.key]), ConfigValue(content, isSecret: setting.isSecret))
        }
        // An empty variable counts as missing: a unit or a manifest cannot remove one that it inherits.
        let set = environment.filter { !$0.value.isEmpty }
        let secrets = Set(Setting.allCases.filter(\.isSecret).map(\.variable))
        let variables = EnvironmentVariablesProvider(environmentVariables: set, secretsSpecifier: .specific(secrets))
        var layers = [
            Layer(provider: InMemoryProvider(name: "flags", values: Dictionary(given) { $1 })) { _ in .flag },
            Layer(provider: variables.prefixKeys(with: "attachprep")) { _ in .variable },
        ]
        if let file, let snapshot = file.snapshot {
            layers.append(
                Layer(provider: SnapshotProvider(content: snapshot)) { .file(file.path, line: file.lines[$0] ?? 1) })
        }
        return layers
    }
}

/// Keeps which provider the last value came from.
private final class SourceRecorder: AccessReporter {
    private let last = Mutex<Int?>(nil)

    /// The index of the provider; nil if no provider had a value.
    var lastIndex: Int? { last.withLock { $0 } }

    func report(_ event: AccessEvent) {
        let index = event.providerResults.firstIndex { (try? $0.result.get())?.value != nil }
        last.withLock { $0 = index }
    }
}

/// Provides the values of a file that was read and checked before; the package's own provider reads without a limit.
private struct SnapshotProvider: ConfigProvider {
    let content: YAMLSnapshot

    var providerName: String { content.providerName }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try content.value(forKey: key, type: type)
    }

    func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try value(forKey: key, type: type)
    }

    func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
    ) async throws -> Return {
        try await watchValueFromValue(forKey: key, type: type, updatesHandler: updatesHandler)
    }

    func snapshot() -> any ConfigSnapshot { content }

    func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler)
    }
}
