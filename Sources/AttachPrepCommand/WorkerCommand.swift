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

    @OptionGroup var work: WorkOptionGroup
    @OptionGroup(title: "Queue on NATS servers") var queue: QueueOptionGroup

    func run() async throws {
        try await ServerRun(flags: [work.flags, queue.flags], role: .work).run()
    }
}
