public import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Glibc
public import Logging
import MediaTypes
package import OTLP
import SafeArithmetic

/// The validated settings of `attachprep serve` or `attachprep worker`.
public struct ServeConfiguration: Sendable {
    /// The command of the process.
    public enum Role: Sendable, Hashable {
        /// `attachprep serve`: accepts jobs over HTTP and processes them.
        case serve
        /// `attachprep worker`: processes jobs from the queue.
        case work
    }

    public enum LogFormat: String, CaseIterable, Sendable {
        case text
        case json
    }

    public let role: Role
    /// The commit that the program was built from, for `attachprep_build_info`; empty if it is not known.
    public var commit = ""
    public var service: ServiceSettings
    /// The database of the queue; nil for SQLite in the data folder.
    public var queue: QueueDatabase?
    /// Whether this process processes jobs; false with `--accept-only`.
    public var works: Bool
    public var preparer: PreparerConfiguration
    /// Empty for a temporary folder that is removed at exit.
    public var dataFolder: String
    public var tokens: [String]
    public var tokenFile: String?
    public var webhookSecrets: [String]
    public var webhookSecretFile: String?
    public var callbackNetworks: [AddressBlock]
    public var durability: StoreDurability
    public var drainSeconds: Double
    public var limits: StoreLimits
    public var jobsPerHostMax: Int
    /// How failed attempts are retried of jobs that do not say it.
    public var retries: RetryPolicy
    public var logFormat: LogFormat
    public var logLevel: Logger.Level
    /// Environment variables that begin with `ATTACHPREP_` and are not settings, probably misspelled.
    public var unknownVariables: [String]
    /// Where traces are sent; nil sends none.
    package var tracing: TracingConfiguration?
    /// The values as given, with their sources.
    let values: SettingValues
    private let flags: [Setting: String]
    private let environment: [String: String]

    /// Reads flags, variables and the file of `--config`.
    ///
    /// - Parameter flags: the values given on the command line.
    /// - Throws: `request.invalid`, with a message that names the invalid flag, variable, or the file's key and line.
    public init(flags: [Setting: String], environment: [String: String], role: Role = .serve) throws {
        let path = SettingValues(flags: flags, environment: environment, file: nil)[.config]?.text
        values = SettingValues(
            flags: flags, environment: environment, file: try path.map { try ConfigurationFile($0) })
        let reader = SettingReader(values)
        (self.flags, self.environment) = (flags, environment)
        self.role = role
        queue = try reader.queueDatabase()
        works = try !reader.isOn(.acceptOnly)
        dataFolder = try Self.dataFolder(reader, environment: environment, isShared: queue != nil)
        service = try Self.service(reader, role: role)
        preparer = try Self.preparer(reader, state: dataFolder)
        preparer.publish = try reader.publishTarget(environment: environment)
        preparer.baseURL = preparer.publish.isRemote ? try reader.address(.publishBaseURL) : nil
        service.servesFiles = !preparer.publish.isRemote
        tokens = reader.list(.tokens)
        tokenFile = reader.text(.tokenFile)?.value
        webhookSecrets = reader.list(.webhookSecrets)
        webhookSecretFile = reader.text(.webhookSecretFile)?.value
        callbackNetworks = try reader.networks(.allowCallbackNetwork)
        durability = try reader.choice(.fsync, StoreDurability.self) ?? .normal
        drainSeconds = try reader.seconds(.drain, 0...3_600) ?? Limits.drainSeconds
        limits = try Self.limits(reader)
        limits.share(among: Self.callersCount(tokens, file: tokenFile), concurrency: preparer.requestsInFlight)
        jobsPerHostMax = try reader.whole(.perHost, 1...10_000) ?? Limits.jobsPerHostMax
        retries = try RetryPolicy().applying(reader.retryOptions())
        logFormat = try reader.choice(.logFormat, LogFormat.self) ?? .text
        logLevel = try reader.choice(.logLevel, Logger.Level.self) ?? .info
        unknownVariables = EnvironmentNames.unknown(in: environment)
        tracing = TracingConfiguration(environment: environment, program: TracedProgram.attributes)
        try checkTargets()
    }

    /// The configuration with the current content of the file of `--config`.
    ///
    /// - Throws: As `init`.
    func reread() throws -> ServeConfiguration {
        var configuration = try ServeConfiguration(flags: flags, environment: environment, role: role)
        configuration.commit = commit
        return configuration
    }

    /// Checks that queue and publish target fit the role: a shared queue requires a bucket, `worker` and
    /// `--accept-only` require a shared queue.
    private func checkTargets() throws {
        guard queue == nil else {
            guard preparer.publish.isRemote else {
                throw AttachPrepError(
                    .requestInvalid,
                    "A queue in PostgreSQL requires a bucket for results; set --publish s3://bucket/prefix.")
            }
            return
        }
        guard role == .serve else {
            throw AttachPrepError(
                .requestInvalid, "A worker requires a queue in PostgreSQL; set --queue postgres://user@host/database.")
        }
        guard works else {
            throw AttachPrepError(
                .requestInvalid,
                "--accept-only requires a queue in PostgreSQL; set --queue postgres://user@host/database.")
        }
    }

    private static func dataFolder(
        _ reader: SettingReader, environment: [String: String], isShared: Bool
    ) throws -> String {
        if let state = reader.text(.data)?.value { return state }
        // With a shared queue the folder holds only temporary files.
        if isShared { return "" }
        guard let state = DefaultDataFolder.path(environment: environment) else {
            throw AttachPrepError(
                .requestInvalid, "No home folder for the data folder; set --data or \(Setting.data.variable).")
        }
        return state
    }

    /// Ten years, in seconds.
    private static let yearsMax = 10.0 * 365 * 86_400

    private static func service(_ reader: SettingReader, role: Role) throws -> ServiceSettings {
        var settings = ServiceSettings()
        if role == .work { settings.port = ServiceSettings.workerPort }
        settings.host = reader.text(.host)?.value ?? settings.host
        try EnvironmentNames.rejectServiceLink(reader)
        settings.port = try reader.whole(.port, 0...65_535) ?? settings.port
        settings.connectionsMax = try reader.whole(.connections, 1...1_000_000) ?? settings.connectionsMax
        settings.connectionsPerAddressMax =
            try reader.whole(.connectionsPerAddress, 0...1_000_000) ?? max(1, settings.connectionsMax / 4)
        settings.metricsNetworks = try reader.networks(.metricsNetwork)
        let rate = try reader.whole(.requestsPerSecond, 0...1_000_000)
        settings.requestsPerSecondMax = rate.map(Double.init) ?? settings.requestsPerSecondMax
        settings.baseURL = try reader.address(.baseURL)
        settings.environment = try reader.environment()
        return settings
    }

    private static func preparer(_ reader: SettingReader, state: String) throws -> PreparerConfiguration {
        var configuration = PreparerConfiguration(output: "\(state)/work")
        configuration.dataFolder = state
        // The store moves the files of results into its own folder.
        configuration.publishesFolders = false
        configuration.download = DownloadPolicy(
            httpsOnly: try reader.isOn(.httpsOnly), allowsPrivateNetwork: try reader.isOn(.allowPrivateNetwork),
            certificateAuthorityFile: try reader.value(.caFile, "give a readable PEM file.") { path in
                FileManager.default.isReadableFile(atPath: path) ? path : nil
            },
            proxy: try reader.value(.proxy, "give an http or https URL.") { text in
                (try? WebAddress(text.contains("://") ? text : "http://\(text)")) != nil ? text : nil
            },
            resolveOverrides: reader.list(.resolve))
        configuration.resolverProbes = try reader.resolverProbes()
        configuration.requestsInFlight = try reader.whole(.concurrency, 1...10_000) ?? Limits.requestsInFlight
        configuration.mediaSlots = try reader.whole(.mediaSlots, 1...1_000) ?? MediaSlots.machineDefault
        configuration.requestsExpected = configuration.mediaSlots.adding(clamping: 1)
        configuration.requiresSandbox = try reader.isOn(.requireSandbox)
        configuration.targetProfiles = try reader.targetProfiles()
        configuration.mediaNiceness = Limits.serviceMediaNiceness
        return configuration
    }

    private static func callersCount(_ tokens: [String], file: String?) -> Int {
        Set(tokens + (file.flatMap { TokenFile.tokens(in: $0) } ?? [])).count
    }

    private static func limits(_ reader: SettingReader) throws -> StoreLimits {
        var limits = StoreLimits()
        if let seconds = try reader.seconds(.retention, 60...yearsMax) { limits.retentionSeconds = seconds }
        if let seconds = try reader.seconds(.deadRetention, 60...yearsMax) { limits.deadRetentionSeconds = seconds }
        if let seconds = try reader.seconds(.unknownFileRetention, 0...yearsMax) { limits.unknownFileSeconds = seconds }
        if let bytes = try quota(reader) { limits.mediaQuotaBytes = bytes }
        if let count = try reader.whole(.maxQueue, 1...10_000_000) { limits.queuedJobsMax = count }
        return limits
    }

    private static func quota(_ reader: SettingReader) throws -> Int? {
        let remedy = "give a size such as 500MB or 20GB, at least \(Limits.movieBytesMax) bytes."
        return try reader.value(.mediaQuota, remedy) { text in
            Quantity.bytes(text).flatMap { $0 >= Limits.movieBytesMax ? $0 : nil }
        }
    }
}

/// Environment variables that begin with `ATTACHPREP_`.
enum EnvironmentNames {
    private static let prefix = "ATTACHPREP_"
    /// Variables that are not settings: the path of `attachprep-media`, and those of `attachprep jobs` and the sample
    /// clients.
    private static let others: Set<String> = ["ATTACHPREP_MEDIA", "ATTACHPREP_URL", "ATTACHPREP_TOKEN"]

    static func unknown(in environment: [String: String]) -> [String] {
        let known = Set(Setting.allCases.map(\.variable)).union(others)
        return environment.keys.filter { $0.hasPrefix(prefix) && !known.contains($0) && !isServiceLink($0) }.sorted()
    }

    /// Whether a platform sets the variable for a service or link named attachprep, such as
    /// `ATTACHPREP_PORT_80_TCP_ADDR`.
    private static func isServiceLink(_ name: String) -> Bool {
        let rest = name.dropFirst(prefix.count)
        return rest.hasPrefix("SERVICE_") || rest.hasPrefix("PORT_")
    }

    /// - Throws: `request.invalid` when the port is a link of Kubernetes or Docker, `tcp://10.0.0.1:80`: the operator's
    ///   own port would be silently lost.
    static func rejectServiceLink(_ reader: SettingReader) throws {
        guard let (text, name) = reader.text(.port), text.utf8.starts(with: "tcp://".utf8) else { return }
        throw AttachPrepError(
            .requestInvalid,
            "\(name) is \"\(MessageText.excerpt(text))\", which Kubernetes or Docker sets for a service named "
                + "attachprep; set enableServiceLinks: false in the pod, or \(Setting.port.variable) to the port "
                + "to listen on.")
    }
}

extension Limits {
    /// Niceness of media processes relative to the service, so that requests are answered first.
    static let serviceMediaNiceness = 5
}

/// The attributes of this process in traces, which the environment can replace.
enum TracedProgram {
    static var attributes: [(key: String, value: String)] {
        [
            ("service.name", "attachprep"), ("service.version", ProductVersion.text),
            ("service.instance.id", UUID().uuidString.lowercased()),
            ("host.name", ProcessInfo.processInfo.hostName), ("process.pid", String(getpid())),
            ("telemetry.sdk.name", "attachprep"), ("telemetry.sdk.language", "swift"),
            ("telemetry.sdk.version", ProductVersion.text),
        ]
    }
}
