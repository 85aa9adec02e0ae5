import ArgumentParser
import AttachPrepService

/// `attachprep worker`
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Process jobs from a queue in PostgreSQL.",
        discussion: """
            Processes jobs that attachprep serve accepted into --queue postgres://user@host/database, publishes files \
            to \
            --publish s3://bucket/prefix and sends webhooks. Any number of workers can run; none keeps data on its \
            machine. Serves /healthz, /readyz and /metrics at --port (8081). Each option can be set as an environment \
            variable or in the file of --config; options take precedence over variables, and variables over the file. \
            SIGHUP reloads the file. SIGTERM stops the worker gracefully; unfinished jobs return to the queue.
            """)

    @OptionGroup(title: "Configuration") var file: ConfigurationOptionGroup
    @OptionGroup(title: "Queue in PostgreSQL") var queue: QueueOptionGroup
    @OptionGroup(title: "Files in a bucket") var bucket: BucketOptionGroup
    @OptionGroup(title: "Work") var work: WorkOptionGroup
    @OptionGroup(title: "Downloads") var download: DownloadOptionGroup
    @OptionGroup(title: "Webhooks") var webhooks: WebhookOptionGroup
    @OptionGroup(title: "Probes and metrics") var listening: ListeningOptionGroup
    @OptionGroup(title: "Probes and metrics") var tokens: TokenOptionGroup
    @OptionGroup(title: "Machine") var store: StoreOptionGroup
    @OptionGroup(title: "Logging") var log: LogOptionGroup

    func run() async throws {
        let groups: [any SettingFlags] = [
            file, queue, bucket, work, download, webhooks, listening, tokens, store, log,
        ]
        try await ServerRun(flags: groups.map(\.flags), role: .work, purpose: file.purpose).run()
    }
}
