import ArgumentParser
import AttachPrepService
import Logging
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A process that serves or works until a signal ends it.
struct ServerRun {
    /// What was typed, group by group.
    let flags: [[Setting: String]]
    let role: ServeConfiguration.Role

    func run() async throws {
        let configuration: ServeConfiguration
        do {
            configuration = try ServeConfiguration(
                flags: flags.reduce(into: [:]) { $0.merge($1) { $1 } },
                environment: ProcessInfo.processInfo.environment, role: role)
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
