import ArgumentParser
import AttachPrepService
import Logging
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// `attachprep serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "HTTP service with its own worker and queue.",
        discussion: """
            Takes jobs at POST /v1/jobs, keeps them in the data folder, works them off, serves the files and tells \
            the caller. Each option is a variable of the environment as well; the option wins. Tokens and webhook \
            secrets come from files or from ATTACHPREP_TOKENS and ATTACHPREP_WEBHOOK_SECRETS. SIGTERM ends it \
            cleanly, SIGHUP has it read those files again. With --queue nats://host,host,host the jobs are on NATS \
            servers, files in a bucket (--publish), and as many of these and of attachprep worker as are wanted do \
            the same work.
            """)

    @OptionGroup(title: "Listening") var listening: ListeningOptionGroup
    @OptionGroup(title: "Access") var access: AccessOptionGroup
    @OptionGroup(title: "Data folder") var store: StoreOptionGroup
    @OptionGroup(title: "Data folder") var folder: DataFolderOptionGroup
    @OptionGroup(title: "Work") var work: WorkOptionGroup
    @OptionGroup(title: "Downloads") var download: DownloadOptionGroup
    @OptionGroup(title: "Webhooks") var webhooks: WebhookOptionGroup
    @OptionGroup(title: "Files in a bucket") var bucket: BucketOptionGroup
    @OptionGroup(title: "Logging") var log: LogOptionGroup
    @OptionGroup(title: "Queue on NATS servers") var queue: QueueOptionGroup
    @OptionGroup(title: "Queue on NATS servers") var intake: IntakeOptionGroup

    func run() async throws {
        let groups: [any SettingFlags] = [
            listening, access, store, folder, work, download, webhooks, bucket, log, intake,
        ]
        try await ServerRun(flags: groups.map(\.flags) + [queue.flags], role: .serve).run()
    }
}
