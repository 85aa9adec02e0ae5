import ArgumentParser
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import MediaTypes

/// A group of flags of `serve` and `worker`, as text; `ServeConfiguration` parses them together with the environment.
/// The help shows the groups in the order of a command's properties.
protocol SettingFlags: ParsableArguments {
    /// The values of the flags that were given.
    var flags: [Setting: String] { get }
}

/// What `serve` or `worker` does with its configuration.
enum ServePurpose {
    case serve
    /// `--check`
    case check
    /// `--print-config`
    case print
}

/// A group of settings, with a flag for each.
protocol SettingTable: SettingFlags, FlagTable {
    static var settings: [Setting] { get }
}

extension SettingTable {
    static var table: [TableFlag] { settings.map { TableFlag($0, help: .of($0)) } }

    /// In the text form of environment variables: lists are joined by commas.
    var flags: [Setting: String] {
        Self.settings.reduce(into: [:]) { flags, setting in
            guard let values = given[setting.rawValue], !values.isEmpty else { return }
            flags[setting] = values.joined(separator: ",")
        }
    }
}

extension TableFlag {
    init(_ setting: Setting, help: ArgumentHelp) {
        self.init(
            name: setting.rawValue, kind: setting.valueName == nil ? .onOff : setting.isList ? .list : .value,
            help: help.abstract, valueName: setting.valueName)
    }
}

/// The configuration file, and whether to show what is in force.
struct ConfigurationOptionGroup: SettingFlags {
    @Option(help: .of(.config)) var config: String?
    @Flag(help: "Print each setting with its value and where it comes from, without secrets, and exit.")
    var printConfig = false
    @Flag(help: "Check the configuration, its files and addresses as a start would, and exit.")
    var check = false

    /// What the command does with the configuration.
    var purpose: ServePurpose { printConfig ? .print : check ? .check : .serve }

    var flags: [Setting: String] { config.map { [.config: $0] } ?? [:] }
}

struct ListeningOptionGroup: SettingTable {
    static let settings: [Setting] = [.host, .port]

    let given: [String: [String]]
}

/// Public URL, name and limits of a service.
struct AccessOptionGroup: SettingTable {
    static let settings: [Setting] = [
        .baseURL, .requestsPerSecond, .connections, .connectionsPerAddress, .environmentName, .environmentColor,
    ]

    let given: [String: [String]]
}

/// Who may send requests, to a service or to a worker's metrics.
struct TokenOptionGroup: SettingTable {
    static let settings: [Setting] = [.tokenFile, .metricsNetwork]

    let given: [String: [String]]
}

/// The data folder and retention.
struct StoreOptionGroup: SettingTable {
    static let settings: [Setting] = [.data, .retention, .deadRetention]

    let given: [String: [String]]
}

/// Quota and durability of the data folder of `serve`.
struct DataFolderOptionGroup: SettingTable {
    static let settings: [Setting] = [.mediaQuota, .fsync, .unknownFileRetention]

    let given: [String: [String]]
}

struct WorkOptionGroup: SettingTable {
    static let settings: [Setting] = [
        .concurrency, .perHost, .mediaSlots, .targetProfile, .retry, .maxQueue, .drain, .requireSandbox,
    ]

    let given: [String: [String]]
}

struct DownloadOptionGroup: SettingTable {
    static let settings: [Setting] = [.httpsOnly, .allowPrivateNetwork, .caFile, .proxy, .resolve, .resolverProbe]

    let given: [String: [String]]
}

struct WebhookOptionGroup: SettingTable {
    static let settings: [Setting] = [.webhookSecretFile, .allowCallbackNetwork]

    let given: [String: [String]]
}

struct BucketOptionGroup: SettingTable {
    static let settings: [Setting] = [
        .publish, .publishBaseURL, .s3Endpoint, .s3Region, .s3PathStyle, .s3CacheControl, .s3Layout,
    ]

    let given: [String: [String]]
}

/// Whether `serve` only accepts jobs.
struct IntakeOptionGroup: SettingTable {
    static let settings: [Setting] = [.acceptOnly]

    let given: [String: [String]]
}

struct LogOptionGroup: SettingTable {
    static let settings: [Setting] = [.logFormat, .logLevel]

    let given: [String: [String]]
}

/// The database of a queue that several machines share.
struct QueueOptionGroup: SettingTable {
    static let settings: [Setting] = [.queue, .queueSchema, .queueKeyFile]

    let given: [String: [String]]

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
}

extension ArgumentHelp {
    /// The help of a setting, for commands that do not read its environment variable.
    static func named(_ setting: Setting) -> ArgumentHelp {
        let standard = setting.defaultText.map { " (default: \($0))" } ?? ""
        return ArgumentHelp("\(setting.help)\(standard)", valueName: setting.valueName)
    }

    /// The help of a setting, followed by its environment variable and default.
    static func of(_ setting: Setting) -> ArgumentHelp {
        let standard = setting.defaultText.map { "; default: \($0)" } ?? ""
        return ArgumentHelp(
            "\(setting.help) (\(setting.variable)\(standard))", valueName: setting.valueName ?? "")
    }
}
