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
            cleanly, SIGHUP has it read those files again.
            """)

    @OptionGroup var options: ServeOptionGroup

    func run() async throws {
        let configuration: ServeConfiguration
        do {
            configuration = try ServeConfiguration(
                flags: options.flags, environment: ProcessInfo.processInfo.environment)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
        let logger = Logger(label: "attachprep", configuration.logFormat, configuration.logLevel)
        do {
            try await AttachmentServer.serve(configuration, logger: logger)
        } catch let error as AttachPrepError {
            logger.debug("could not serve", metadata: ["error": "\(error)"])
            if error.code == .requestInvalid { throw ValidationError(error.message) }
            StandardStreams.note("attachprep: \(TerminalText.safe(error.message))")
            throw CommandEnd.someRejected
        }
    }
}
