import ArgumentParser
import AttachPrepService

/// The flags of `serve` and `worker` by subject, as they were typed: `ServeConfiguration` reads them, together with the
/// environment. The help shows the groups in the order in which a command names them.
protocol SettingFlags: ParsableArguments {
    /// What was given.
    var values: [Setting: String?] { get }
}

extension SettingFlags {
    var flags: [Setting: String] { values.compactMapValues { $0 } }
}

/// Where a service is reached.
struct ListeningOptionGroup: SettingFlags {
    @Option(help: .of(.host)) var host: String?
    @Option(help: .of(.port)) var port: String?

    var values: [Setting: String?] { [.host: host, .port: port] }
}

/// Who may use a service, from where, and how much.
struct AccessOptionGroup: SettingFlags {
    @Option(name: .customLong("base-url"), help: .of(.baseURL)) var baseURL: String?
    @Option(help: .of(.tokenFile)) var tokenFile: String?
    @Option(help: .of(.requestsPerSecond)) var requestsPerSecond: String?
    @Option(help: .of(.connections)) var connections: String?
    @Option(help: .of(.connectionsPerAddress)) var connectionsPerAddress: String?
    @Flag(help: .of(.loopbackMetrics)) var loopbackMetrics = false

    var values: [Setting: String?] {
        [
            .baseURL: baseURL, .tokenFile: tokenFile, .requestsPerSecond: requestsPerSecond, .connections: connections,
            .connectionsPerAddress: connectionsPerAddress, .loopbackMetrics: SettingText.word(loopbackMetrics),
        ]
    }
}

/// What a service keeps.
struct StoreOptionGroup: SettingFlags {
    @Option(help: .of(.state)) var state: String?
    @Option(help: .of(.retention)) var retention: String?
    @Option(help: .of(.deadRetention)) var deadRetention: String?

    var values: [Setting: String?] { [.state: state, .retention: retention, .deadRetention: deadRetention] }
}

/// What the data folder of `serve` holds, and how safely.
struct DataFolderOptionGroup: SettingFlags {
    @Option(help: .of(.mediaQuota)) var mediaQuota: String?
    @Option(help: .of(.fsync)) var fsync: String?
    @Option(help: .of(.unknownFileRetention)) var unknownFileRetention: String?

    var values: [Setting: String?] {
        [.mediaQuota: mediaQuota, .fsync: fsync, .unknownFileRetention: unknownFileRetention]
    }
}

/// How much is worked on at a time.
struct WorkOptionGroup: SettingFlags {
    @Option(help: .of(.concurrency)) var concurrency: String?
    @Option(help: .of(.perHost)) var perHost: String?
    @Option(help: .of(.mediaSlots)) var mediaSlots: String?
    @Option(help: .of(.maxQueue)) var maxQueue: String?
    @Option(help: .of(.drain)) var drain: String?
    @Flag(help: .of(.requireSandbox)) var requireSandbox = false

    var values: [Setting: String?] {
        [
            .concurrency: concurrency, .perHost: perHost, .mediaSlots: mediaSlots, .maxQueue: maxQueue, .drain: drain,
            .requireSandbox: SettingText.word(requireSandbox),
        ]
    }
}

/// How sources are fetched.
struct DownloadOptionGroup: SettingFlags {
    @Flag(help: .of(.httpsOnly)) var httpsOnly = false
    @Flag(help: .of(.allowPrivateNetwork)) var allowPrivateNetwork = false
    @Option(help: .of(.caFile)) var caFile: String?
    @Option(help: .of(.proxy)) var proxy: String?
    @Option(help: .of(.resolve)) var resolve: [String] = []

    var values: [Setting: String?] {
        [
            .httpsOnly: SettingText.word(httpsOnly), .allowPrivateNetwork: SettingText.word(allowPrivateNetwork),
            .caFile: caFile, .proxy: proxy, .resolve: SettingText.joined(resolve),
        ]
    }
}

/// How callers are told.
struct WebhookOptionGroup: SettingFlags {
    @Option(help: .of(.webhookSecretFile)) var webhookSecretFile: String?
    @Option(help: .of(.allowCallbackNetwork)) var allowCallbackNetwork: [String] = []

    var values: [Setting: String?] {
        [.webhookSecretFile: webhookSecretFile, .allowCallbackNetwork: SettingText.joined(allowCallbackNetwork)]
    }
}

/// Where files go.
struct BucketOptionGroup: SettingFlags {
    @Option(help: .of(.publish)) var publish: String?
    @Option(name: .customLong("publish-base-url"), help: .of(.publishBaseURL)) var publishBaseURL: String?
    @Option(name: .customLong("s3-endpoint"), help: .of(.s3Endpoint)) var s3Endpoint: String?
    @Option(name: .customLong("s3-region"), help: .of(.s3Region)) var s3Region: String?
    @Flag(name: .customLong("s3-path-style"), help: .of(.s3PathStyle)) var s3PathStyle = false
    @Option(name: .customLong("s3-cache-control"), help: .of(.s3CacheControl)) var s3CacheControl: String?

    var values: [Setting: String?] {
        [
            .publish: publish, .publishBaseURL: publishBaseURL, .s3Endpoint: s3Endpoint, .s3Region: s3Region,
            .s3PathStyle: SettingText.word(s3PathStyle), .s3CacheControl: s3CacheControl,
        ]
    }
}

/// Whether `serve` works itself.
struct IntakeOptionGroup: SettingFlags {
    @Flag(help: .of(.acceptOnly)) var acceptOnly = false

    var values: [Setting: String?] { [.acceptOnly: SettingText.word(acceptOnly)] }
}

/// What is logged.
struct LogOptionGroup: SettingFlags {
    @Option(help: .of(.logFormat)) var logFormat: String?
    @Option(help: .of(.logLevel)) var logLevel: String?

    var values: [Setting: String?] { [.logFormat: logFormat, .logLevel: logLevel] }
}

extension ArgumentHelp {
    /// What a setting is, what it is called in the environment, and what holds without it.
    static func of(_ setting: Setting) -> ArgumentHelp {
        let standard = setting.defaultText.map { "; default: \($0)" } ?? ""
        return ArgumentHelp(
            "\(setting.help) (\(setting.variable)\(standard))", valueName: setting.valueName ?? "")
    }
}

/// Flags as the environment would say them.
enum SettingText {
    static func joined(_ values: [String]) -> String? { values.isEmpty ? nil : values.joined(separator: ",") }

    /// A flag that is not there leaves the word to the environment.
    static func word(_ isOn: Bool) -> String? { isOn ? "true" : nil }
}
