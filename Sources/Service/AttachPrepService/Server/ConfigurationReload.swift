import AttachPrepJobs
import AttachPrepModel
import Logging
import Synchronization

/// Reads the configuration again on SIGHUP and applies what can change while the server runs.
///
/// An invalid file changes nothing: its error is logged, and the previous configuration stays in use. Changes that need
/// a restart are named in the log at each reload until then.
final class ConfigurationReload: Sendable {
    /// The configuration in use: as it was at the start, with the reloaded settings of later ones.
    private struct State {
        var last: ServeConfiguration
        var texts: [Setting: String]
    }

    private let dependencies: ServerDependencies
    private let logLevel: ProcessLogLevel
    private let logger: Logger
    /// Held during a reload, so that two signals do not mix.
    private let state: Mutex<State>

    init(
        _ configuration: ServeConfiguration, _ dependencies: ServerDependencies, logLevel: ProcessLogLevel,
        logger: Logger
    ) {
        (self.dependencies, self.logLevel, self.logger) = (dependencies, logLevel, logger)
        state = Mutex(State(last: configuration, texts: Self.texts(configuration)))
    }

    func run() {
        state.withLock { state in
            do {
                try apply(try state.last.reread(), in: &state)
            } catch {
                logger.error(
                    "configuration not reloaded; the previous one stays in use",
                    metadata: ["error": "\((error as? AttachPrepError)?.message ?? "\(error)")"])
            }
        }
    }

    /// - Throws: `request.invalid` for invalid tokens or secrets; nothing is applied then.
    private func apply(_ next: ServeConfiguration, in state: inout State) throws {
        let tokens = try next.accessTokens(logger)
        let secrets = try next.signingSecrets(logger)
        let texts = Self.texts(next)
        let changed = Setting.allCases.filter { texts[$0] != state.texts[$0] }
        var kept = Set(changed.filter { !$0.isReloaded || next.belongsToStreams($0) })
        // Without tokens a service is for its machine alone, which is decided at the start, as is whether requests may
        // have a callback.
        let credentials = dependencies.credentials
        let keepsTokens = tokens.isRequired != credentials.areTokensRequired
        if keepsTokens { kept.formUnion(changed.filter { [.tokens, .tokenFile].contains($0) }) }
        let keepsSecrets = secrets.current.isEmpty == credentials.areWebhooksSigned
        if keepsSecrets { kept.formUnion(changed.filter { [.webhookSecrets, .webhookSecretFile].contains($0) }) }
        dependencies.apply(next, tokens: keepsTokens ? nil : tokens, secrets: keepsSecrets ? nil : secrets)
        let applied = changed.filter { !kept.contains($0) }
        let shown = applied.map { Self.text($0, from: state.texts[$0], to: texts[$0]) }.joined(separator: ", ")
        for setting in applied { state.texts[setting] = texts[setting] }
        state.last = next
        logger.notice("configuration reloaded", metadata: ["changed": "\(shown.isEmpty ? "nothing" : shown)"])
        logLevel.change(to: next.logLevel)
        if !kept.isEmpty {
            let names = Setting.allCases.filter(kept.contains).map(\.key).joined(separator: ", ")
            logger.warning("changed settings need a restart", metadata: ["settings": "\(names)"])
        }
    }

    private static func texts(_ configuration: ServeConfiguration) -> [Setting: String] {
        Dictionary(
            uniqueKeysWithValues: Setting.allCases.compactMap { setting -> (Setting, String)? in
                let text = configuration.values[setting]?.text ?? setting.defaultValue(in: configuration)
                return text.map { (setting, $0) }
            })
    }

    private static func text(_ setting: Setting, from old: String?, to new: String?) -> String {
        setting.isSecret ? setting.key : "\(setting.key) (\(old ?? "none") to \(new ?? "none"))"
    }
}

extension ServeConfiguration {
    /// Whether a setting belongs to the streams of a shared queue, which are made at the start.
    fileprivate func belongsToStreams(_ setting: Setting) -> Bool {
        queue != nil && [.retention, .deadRetention, .mediaQuota, .unknownFileRetention].contains(setting)
    }
}
