public import AttachPrep
public import AttachPrepJobs
public import Logging
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// All that `attachprep serve` or `attachprep worker` is told, read and checked before anything starts.
public struct ServeConfiguration: Sendable {
    /// What a process is there for.
    public enum Role: Sendable, Hashable {
        /// Takes jobs in, shows them, and works them off.
        case serve
        /// Works off jobs that others take in.
        case work
    }

    public enum LogFormat: String, CaseIterable, Sendable {
        case text
        case json
    }

    public let role: Role
    public var service: ServiceSettings
    /// The servers that jobs are on; nil for the data folder.
    public var queue: QueueServers?
    /// Whether it works jobs off.
    public var works: Bool
    public var preparer: PreparerConfiguration
    /// Empty for one that goes with the process.
    public var stateFolder: String
    public var tokens: [String]
    public var tokenFile: String?
    public var webhookSecrets: [String]
    public var webhookSecretFile: String?
    public var callbackNetworks: [String]
    public var durability: StoreDurability
    public var drainSeconds: Double
    public var retentionSeconds: Double
    public var deadRetentionSeconds: Double
    public var unknownFileSeconds: Double
    public var mediaQuotaBytes: Int
    public var queuedJobsMax: Int
    public var jobsPerHostMax: Int
    public var logFormat: LogFormat
    public var logLevel: Logger.Level
    /// Variables that begin with ours and mean nothing: misspelt, most likely.
    public var unknownVariables: [String]

    /// - Parameter flags: what stood on the command line.
    /// - Throws: `request.invalid`, whose sentence names the flag or the variable at fault.
    public init(flags: [Setting: String], environment: [String: String], role: Role = .serve) throws {
        let reader = SettingReader(flags: flags, environment: EnvironmentNames.withoutServiceLinks(environment))
        self.role = role
        queue = try reader.queueServers()
        works = try !reader.isOn(.acceptOnly)
        stateFolder = try Self.stateFolder(reader, environment, isShared: queue != nil)
        service = try Self.service(reader, role)
        preparer = try Self.preparer(reader, state: stateFolder)
        preparer.publish = try reader.publishPlace(environment: environment)
        preparer.baseURL = preparer.publish.isRemote ? try reader.address(.publishBaseURL) : nil
        service.servesFiles = !preparer.publish.isRemote
        tokens = reader.list(.tokens)
        tokenFile = reader.text(.tokenFile)?.value
        webhookSecrets = reader.list(.webhookSecrets)
        webhookSecretFile = reader.text(.webhookSecretFile)?.value
        callbackNetworks = reader.list(.allowCallbackNetwork)
        durability = try reader.choice(.fsync, StoreDurability.self) ?? .normal
        drainSeconds = try reader.seconds(.drain, 0...3_600) ?? Limits.drainSeconds
        retentionSeconds = try reader.seconds(.retention, 60...Self.yearsMax) ?? Limits.retentionSeconds
        deadRetentionSeconds = try reader.seconds(.deadRetention, 60...Self.yearsMax) ?? Limits.deadRetentionSeconds
        unknownFileSeconds =
            try reader.seconds(.unknownFileRetention, 0...Self.yearsMax) ?? StoreLimits().unknownFileSeconds
        mediaQuotaBytes = try Self.quota(reader)
        queuedJobsMax = try reader.whole(.maxQueue, 1...10_000_000) ?? Limits.queuedJobsMax
        jobsPerHostMax = try reader.whole(.perHost, 1...10_000) ?? Limits.jobsPerHostMax
        logFormat = try reader.choice(.logFormat, LogFormat.self) ?? .text
        logLevel = try reader.choice(.logLevel, Logger.Level.self) ?? .info
        unknownVariables = EnvironmentNames.unknown(in: environment)
        try checkPlaces()
    }

    /// What several machines work on, each of them has to reach.
    private func checkPlaces() throws {
        guard queue == nil else {
            guard preparer.publish.isRemote else {
                throw AttachPrepError(
                    .requestInvalid,
                    "With --queue nats: results are no one machine's; name a bucket with --publish s3://bucket/prefix.")
            }
            return
        }
        guard role == .serve else {
            throw AttachPrepError(
                .requestInvalid, "A worker needs to know where jobs are; give --queue nats://host,host,host.")
        }
        guard works else {
            throw AttachPrepError(
                .requestInvalid, "--accept-only leaves the work to other machines; it goes with --queue nats: alone.")
        }
    }

    private static func stateFolder(
        _ reader: SettingReader, _ environment: [String: String], isShared: Bool
    ) throws -> String {
        if let state = reader.text(.state)?.value { return state }
        // Nothing is kept that others do not have.
        if isShared { return "" }
        guard let state = StateFolder.defaultPath(environment: environment) else {
            throw AttachPrepError(
                .requestInvalid, "There is no home folder to keep state in; give --state or \(Setting.state.variable).")
        }
        return state
    }

    /// Ten years, in seconds.
    private static let yearsMax = 10.0 * 365 * 86_400

    private static func service(_ reader: SettingReader, _ role: Role) throws -> ServiceSettings {
        var settings = ServiceSettings()
        if role == .work { settings.port = ServiceSettings.workerPort }
        settings.host = reader.text(.host)?.value ?? settings.host
        settings.port = try reader.whole(.port, 0...65_535) ?? settings.port
        settings.connectionsMax = try reader.whole(.connections, 1...1_000_000) ?? settings.connectionsMax
        settings.connectionsPerAddressMax =
            try reader.whole(.connectionsPerAddress, 0...1_000_000) ?? max(1, settings.connectionsMax / 4)
        settings.showsMetricsToLoopback = try reader.isOn(.loopbackMetrics)
        let rate = try reader.whole(.requestsPerSecond, 0...1_000_000)
        settings.requestsPerSecondMax = rate.map(Double.init) ?? settings.requestsPerSecondMax
        settings.baseURL = try reader.address(.baseURL)
        return settings
    }

    private static func preparer(_ reader: SettingReader, state: String) throws -> PreparerConfiguration {
        var configuration = PreparerConfiguration(output: "\(state)/work")
        configuration.stateFolder = state
        configuration.download = DownloadPolicy(
            httpsOnly: try reader.isOn(.httpsOnly), allowsPrivateNetwork: try reader.isOn(.allowPrivateNetwork),
            certificateAuthorityFile: try reader.value(.caFile, "give a PEM file that can be read.") { path in
                FileManager.default.isReadableFile(atPath: path) ? path : nil
            },
            proxy: try reader.value(.proxy, "give an http or https address.") { text in
                (try? WebAddress(text.contains("://") ? text : "http://\(text)")) != nil ? text : nil
            },
            resolveOverrides: reader.list(.resolve))
        configuration.requestsInFlight = try reader.whole(.concurrency, 1...10_000) ?? Limits.requestsInFlight
        configuration.mediaSlots = try reader.whole(.mediaSlots, 1...1_000) ?? MediaSlots.machineDefault
        configuration.requestsExpected = configuration.mediaSlots.adding(clamping: 1)
        configuration.requiresSandbox = try reader.isOn(.requireSandbox)
        configuration.mediaNiceness = Limits.serviceMediaNiceness
        return configuration
    }

    private static func quota(_ reader: SettingReader) throws -> Int {
        let remedy = "give bytes as in 500MB or 20GB, at least \(Limits.movieBytesMax)."
        return try reader.value(.mediaQuota, remedy) { text in
            Quantity.bytes(text).flatMap { $0 >= Limits.movieBytesMax ? $0 : nil }
        } ?? Limits.mediaQuotaBytes
    }
}

/// Names in an environment that begin with ours. Pure.
enum EnvironmentNames {
    private static let prefix = "ATTACHPREP_"
    /// Read by other parts: where the media program is, and what the clients' samples use.
    private static let others: Set<String> = ["ATTACHPREP_MEDIA", "ATTACHPREP_URL", "ATTACHPREP_TOKEN"]

    static func unknown(in environment: [String: String]) -> [String] {
        let known = Set(Setting.allCases.map(\.variable)).union(others)
        return withoutServiceLinks(environment).keys.filter { $0.hasPrefix(prefix) && !known.contains($0) }.sorted()
    }

    /// Kubernetes gives every container variables for each service: one called attachprep makes
    /// `ATTACHPREP_PORT=tcp://10.0.0.1:80` and more like it, and means none of ours.
    static func withoutServiceLinks(_ environment: [String: String]) -> [String: String] {
        environment.filter { name, value in
            let rest = name.dropFirst(prefix.count)
            guard name.hasPrefix(prefix) else { return true }
            if rest.hasPrefix("SERVICE_") || rest.hasPrefix("PORT_") { return false }
            return !(rest == "PORT" && value.hasPrefix("tcp://"))
        }
    }
}
