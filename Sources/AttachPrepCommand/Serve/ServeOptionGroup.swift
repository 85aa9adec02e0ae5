import ArgumentParser
import AttachPrepService

/// The flags of `serve` alone, as they were typed: `ServeConfiguration` reads them, together with the environment.
struct ServeOptionGroup: ParsableArguments {
    @Option(name: .customLong("base-url"), help: .of(.baseURL)) var baseURL: String?
    @Option(help: .of(.tokenFile)) var tokenFile: String?
    @Flag(help: .of(.acceptOnly)) var acceptOnly = false
    @Option(help: .of(.fsync)) var fsync: String?
    @Option(help: .of(.mediaQuota)) var mediaQuota: String?
    @Option(help: .of(.connections)) var connections: String?
    @Option(help: .of(.connectionsPerAddress)) var connectionsPerAddress: String?
    @Flag(help: .of(.loopbackMetrics)) var loopbackMetrics = false
    @Option(help: .of(.requestsPerSecond)) var requestsPerSecond: String?

    /// What was given.
    var flags: [Setting: String] {
        let values: [Setting: String?] = [
            .baseURL: baseURL, .tokenFile: tokenFile, .acceptOnly: SettingText.word(acceptOnly), .fsync: fsync,
            .mediaQuota: mediaQuota, .connections: connections, .connectionsPerAddress: connectionsPerAddress,
            .loopbackMetrics: SettingText.word(loopbackMetrics), .requestsPerSecond: requestsPerSecond,
        ]
        return values.compactMapValues { $0 }
    }
}

extension ArgumentHelp {
    /// What a setting is, what it is called in the environment, and what holds without it.
    static func of(_ setting: Setting) -> ArgumentHelp {
        let standard = setting.defaultText.map { "; default: \($0)" } ?? ""
        return ArgumentHelp(
            "\(setting.help) (\(setting.variable)\(standard))", valueName: setting.valueName ?? "")
    }
}
