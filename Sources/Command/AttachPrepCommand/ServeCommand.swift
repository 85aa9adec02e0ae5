import ArgumentParser
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import Logging
import MediaTypes

/// `attachprep serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the HTTP service with its queue and worker.",
        discussion: """
            Accepts jobs at POST /v1/jobs, stores them in the data folder, processes them, serves the result files \
            and sends webhooks. Each option can be set as an environment variable or in the file of --config; options \
            take precedence over variables, and variables over the file. Tokens and webhook secrets are read from \
            files or from ATTACHPREP_TOKENS and ATTACHPREP_WEBHOOK_SECRETS. SIGTERM stops the service gracefully, \
            SIGHUP reloads all these files. With --queue postgres://user@host/database the queue is in PostgreSQL and \
            files go to a bucket (--publish), so that any number of attachprep serve and attachprep worker processes \
            can share the work.
            """)

    @OptionGroup(title: "Configuration") var file: ConfigurationOptionGroup
    @OptionGroup(title: "Listening") var listening: ListeningOptionGroup
    @OptionGroup(title: "Access") var tokens: TokenOptionGroup
    @OptionGroup(title: "Access") var access: AccessOptionGroup
    @OptionGroup(title: "Data folder") var store: StoreOptionGroup
    @OptionGroup(title: "Data folder") var folder: DataFolderOptionGroup
    @OptionGroup(title: "Work") var work: WorkOptionGroup
    @OptionGroup(title: "Downloads") var download: DownloadOptionGroup
    @OptionGroup(title: "Webhooks") var webhooks: WebhookOptionGroup
    @OptionGroup(title: "Files in a bucket") var bucket: BucketOptionGroup
    @OptionGroup(title: "Logging") var log: LogOptionGroup
    @OptionGroup(title: "Queue in PostgreSQL") var queue: QueueOptionGroup
    @OptionGroup(title: "Queue in PostgreSQL") var intake: IntakeOptionGroup

    func run() async throws {
        let groups: [any SettingFlags] = [
            file, listening, tokens, access, store, folder, work, download, webhooks, bucket, log, queue, intake,
        ]
        try await ServerRun(flags: groups.map(\.flags), role: .serve, purpose: file.purpose).run()
    }
}

/// Runs `serve` or `worker` until a signal ends it.
struct ServerRun {
    /// The given flags of each option group.
    let flags: [[Setting: String]]
    let role: ServeConfiguration.Role
    let purpose: ServePurpose

    func run() async throws {
        var configuration: ServeConfiguration
        do {
            configuration = try ServeConfiguration(
                flags: flags.reduce(into: [:]) { $0.merge($1) { $1 } },
                environment: ProcessInfo.processInfo.environment, role: role)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
        configuration.commit = Version.commit
        let level = ProcessLogLevel(configuration.logLevel)
        let logger = Logger(label: "attachprep", configuration, level)
        do {
            switch purpose {
            case .print: StandardStreams.result(configuration.printed)
            case .check: try await check(configuration, logger: logger)
            case .serve: try await AttachmentServer.serve(configuration, logger: logger, logLevel: level)
            }
        } catch let error as AttachPrepError {
            // The message has no library text; the log has the reason.
            if let detail = error.detail { logger.error("cannot start", metadata: ["detail": "\(detail)"]) }
            if error.code == .requestInvalid { throw ValidationError(error.message) }
            StandardStreams.error(error.message)
            throw ExitCodeError.someRejected
        }
    }

    private func check(_ configuration: ServeConfiguration, logger: Logger) async throws {
        try await configuration.check(logger)
        for name in configuration.unknownVariables {
            StandardStreams.result("warning: unknown environment variable \(name), possibly misspelled")
        }
        StandardStreams.result("The configuration is valid; attachprep doctor also connects to what it names.")
    }
}
