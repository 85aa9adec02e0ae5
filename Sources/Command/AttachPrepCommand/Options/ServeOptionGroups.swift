import ArgumentParser
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import MediaTypes

/// A group of flags of `serve` and `worker`, as text; `ServeConfiguration` parses them together with the environment.
/// The help shows the groups in the order of a command's properties.
protocol SettingFlags: ParsableArguments {
    /// The values of the flags, nil for those not given.
    var values: [Setting: String?] { get }
}

extension SettingFlags {
    var flags: [Setting: String] { values.compactMapValues { $0 } }
}

/// The configuration file, and whether to show what is in force.
struct ConfigurationOptionGroup: SettingFlags {
    @Option(help: .of(.config)) var config: String?
    @Flag(help: "Print each setting with its value and where it comes from, without secrets, and exit.")
    var printConfig = false
    @Flag(help: "Check the configuration, its files and addresses as a start would, and exit.")
    var check = false

    /// What the command does with the configuration.
    var purpose: ServerRun.Purpose { printConfig ? .print : check ? .check : .serve }

    var values: [Setting: String?] { [.config: config] }
}

struct ListeningOptionGroup: SettingFlags {
    @Option(help: .of(.host)) var host: String?
    @Option(help: .of(.port)) var port: String?

    var values: [Setting: String?] { [.host: host, .port: port] }
}

/// Public URL, name and limits of a service.
struct AccessOptionGroup: SettingFlags {
    @Option(name: .customLong("base-url"), help: .of(.baseURL)) var baseURL: String?
    @Option(help: .of(.requestsPerSecond)) var requestsPerSecond: String?
    @Option(help: .of(.connections)) var connections: String?
    @Option(help: .of(.connectionsPerAddress)) var connectionsPerAddress: String?
    @Option(help: .of(.environmentName)) var environmentName: String?
    @Option(help: .of(.environmentColor)) var environmentColor: String?

    var values: [Setting: String?] {
        [
            .baseURL: baseURL, .requestsPerSecond: requestsPerSecond, .connections: connections,
            .connectionsPerAddress: connectionsPerAddress, .environmentName: environmentName,
            .environmentColor: environmentColor,
        ]
    }
}

/// Who may send requests, to a service or to a worker's metrics.
struct TokenOptionGroup: SettingFlags {
    @Option(help: .of(.tokenFile)) var tokenFile: String?
    @Option(help: .of(.metricsNetwork)) var metricsNetwork: [String] = []

    var values: [Setting: String?] {
        [.tokenFile: tokenFile, .metricsNetwork: FlagText.joined(metricsNetwork)]
    }
}

/// The data folder and retention.
struct StoreOptionGroup: SettingFlags {
    @Option(help: .of(.data)) var data: String?
    @Option(help: .of(.retention)) var retention: String?
    @Option(help: .of(.deadRetention)) var deadRetention: String?

    var values: [Setting: String?] { [.data: data, .retention: retention, .deadRetention: deadRetention] }
}

/// Quota and durability of the data folder of `serve`.
struct DataFolderOptionGroup: SettingFlags {
    @Option(help: .of(.mediaQuota)) var mediaQuota: String?
    @Option(help: .of(.fsync)) var fsync: String?
    @Option(help: .of(.unknownFileRetention)) var unknownFileRetention: String?

    var values: [Setting: String?] {
        [.mediaQuota: mediaQuota, .fsync: fsync, .unknownFileRetention: unknownFileRetention]
    }
}

struct WorkOptionGroup: SettingFlags {
    @Option(help: .of(.concurrency)) var concurrency: String?
    @Option(help: .of(.perHost)) var perHost: String?
    @Option(help: .of(.mediaSlots)) var mediaSlots: String?
    @Option(name: .customLong(Setting.targetProfile.rawValue), help: .of(.targetProfile))
    var targetProfiles: [String] = []
    @Option(help: .of(.retry)) var retry: String?
    @Option(help: .of(.maxQueue)) var maxQueue: String?
    @Option(help: .of(.drain)) var drain: String?
    @Flag(help: .of(.requireSandbox)) var requireSandbox = false

    var values: [Setting: String?] {
        [
            .concurrency: concurrency, .perHost: perHost, .mediaSlots: mediaSlots,
            .targetProfile: FlagText.joined(targetProfiles), .retry: retry, .maxQueue: maxQueue, .drain: drain,
            .requireSandbox: FlagText.flag(requireSandbox),
        ]
    }
}

struct DownloadOptionGroup: SettingFlags {
    @Flag(help: .of(.httpsOnly)) var httpsOnly = false
    @Flag(help: .of(.allowPrivateNetwork)) var allowPrivateNetwork = false
    @Option(help: .of(.caFile)) var caFile: String?
    @Option(help: .of(.proxy)) var proxy: String?
    @Option(help: .of(.resolve)) var resolve: [String] = []
    @Option(help: .of(.resolverProbe)) var resolverProbe: [String] = []

    var values: [Setting: String?] {
        [
            .httpsOnly: FlagText.flag(httpsOnly), .allowPrivateNetwork: FlagText.flag(allowPrivateNetwork),
            .caFile: caFile, .proxy: proxy, .resolve: FlagText.joined(resolve),
            .resolverProbe: FlagText.joined(resolverProbe),
        ]
    }
}

struct WebhookOptionGroup: SettingFlags {
    @Option(help: .of(.webhookSecretFile)) var webhookSecretFile: String?
    @Option(help: .of(.allowCallbackNetwork)) var allowCallbackNetwork: [String] = []

    var values: [Setting: String?] {
        [.webhookSecretFile: webhookSecretFile, .allowCallbackNetwork: FlagText.joined(allowCallbackNetwork)]
    }
}

struct BucketOptionGroup: SettingFlags {
    @Option(help: .of(.publish)) var publish: String?
    @Option(name: .customLong("publish-base-url"), help: .of(.publishBaseURL)) var publishBaseURL: String?
    @Option(name: .customLong("s3-endpoint"), help: .of(.s3Endpoint)) var s3Endpoint: String?
    @Option(name: .customLong("s3-region"), help: .of(.s3Region)) var s3Region: String?
    @Flag(name: .customLong("s3-path-style"), help: .of(.s3PathStyle)) var s3PathStyle = false
    @Option(name: .customLong("s3-cache-control"), help: .of(.s3CacheControl)) var s3CacheControl: String?
    @Option(name: .customLong("s3-layout"), help: .of(.s3Layout)) var s3Layout: String?

    var values: [Setting: String?] {
        [
            .publish: publish, .publishBaseURL: publishBaseURL, .s3Endpoint: s3Endpoint, .s3Region: s3Region,
            .s3PathStyle: FlagText.flag(s3PathStyle), .s3CacheControl: s3CacheControl,
            .s3Layout: s3Layout,
        ]
    }
}

/// Whether `serve` only accepts jobs.
struct IntakeOptionGroup: SettingFlags {
    @Flag(help: .of(.acceptOnly)) var acceptOnly = false

    var values: [Setting: String?] { [.acceptOnly: FlagText.flag(acceptOnly)] }
}

struct LogOptionGroup: SettingFlags {
    @Option(help: .of(.logFormat)) var logFormat: String?
    @Option(help: .of(.logLevel)) var logLevel: String?

    var values: [Setting: String?] { [.logFormat: logFormat, .logLevel: logLevel] }
}

extension ArgumentHelp {
    /// The help of a setting, for commands that do not read its environment variable.
    static func named(_ setting: Setting) -> ArgumentHelp {
        ArgumentHelp("\(setting.help)", valueName: setting.valueName)
    }

    /// The help of a setting, followed by its environment variable and default.
    static func of(_ setting: Setting) -> ArgumentHelp {
        let standard = setting.defaultText.map { "; default: \($0)" } ?? ""
        return ArgumentHelp(
            "\(setting.help) (\(setting.variable)\(standard))", valueName: setting.valueName ?? "")
    }
}

/// Flags in the text form of environment variables.
enum FlagText {
    static func joined(_ values: [String]) -> String? { values.isEmpty ? nil : values.joined(separator: ",") }

    /// Nil for a missing flag, so that the environment variable counts.
    static func flag(_ isOn: Bool) -> String? { isOn ? "true" : nil }
}

/// The database of a queue that several machines share.
struct QueueOptionGroup: SettingFlags {
    @Option(help: .of(.queue)) var queue: String?
    @Option(help: .of(.queueSchema)) var queueSchema: String?
    @Option(help: .of(.queueKeyFile)) var queueKeyFile: String?

    /// The database given by flag or environment; nil if there is none.
    ///
    /// - Throws: `ValidationError`.
    func database() throws -> QueueDatabase? {
        do {
            return try QueueDatabase.named(flags: flags, environment: ProcessInfo.processInfo.environment)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }

    var values: [Setting: String?] {
        [.queue: queue, .queueSchema: queueSchema, .queueKeyFile: queueKeyFile]
    }
}
