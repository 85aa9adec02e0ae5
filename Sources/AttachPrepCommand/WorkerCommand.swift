import ArgumentParser
import AttachPrepService

/// `attachprep worker`
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Works off jobs that are on NATS servers, on as many machines as wanted.",
        discussion: """
            Takes jobs from --queue nats://host,host,host that any attachprep serve has taken in there, publishes \
            files to --publish s3://bucket/prefix and tells callers. Nothing is kept on its machine. Answers \
            /healthz, /readyz and /metrics at --port (8081). Each option is a variable of the environment as well; \
            the option wins. SIGTERM ends it cleanly: what it does not finish, another one does.
            """)

    @OptionGroup(title: "Queue on NATS servers") var queue: QueueOptionGroup
    @OptionGroup(title: "Files in a bucket") var bucket: BucketOptionGroup
    @OptionGroup(title: "Work") var work: WorkOptionGroup
    @OptionGroup(title: "Downloads") var download: DownloadOptionGroup
    @OptionGroup(title: "Webhooks") var webhooks: WebhookOptionGroup
    @OptionGroup(title: "Probes and metrics") var listening: ListeningOptionGroup
    @OptionGroup(title: "Machine") var store: StoreOptionGroup
    @OptionGroup(title: "Logging") var log: LogOptionGroup

    func run() async throws {
        let groups: [any SettingFlags] = [bucket, work, download, webhooks, listening, store, log]
        try await ServerRun(flags: groups.map(\.flags) + [queue.flags], role: .work).run()
    }
}
