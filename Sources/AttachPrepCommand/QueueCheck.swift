import AttachPrep
import AttachPrepModel
import AttachPrepService
import Logging
import PostgresDatabase
import RichPush

/// The state of the database of a shared queue, for `attachprep doctor`.
struct QueueCheck: Codable, Sendable {
    /// What the database reports; nil if it could not be reached.
    let examination: PostgresDiagnostics?
    /// The problems found, each with its remedy.
    let faults: [String]

    init(asking queue: QueueDatabase, _ logger: Logger) async {
        do {
            let database = try await PostgresDatabase.open(queue.address, schema: queue.schema, logger: logger)
            let examination = try await database.diagnostics()
            await database.close()
            (self.examination, faults) = (examination, examination.faults)
        } catch {
            logger.debug("queue check failed", metadata: ["error": "\(error)"])
            (examination, faults) = (nil, [Self.sentence(error)])
        }
    }

    /// The error's message with the reason given by the database, since the command writes no log.
    private static func sentence(_ error: any Error) -> String {
        guard let known = error as? AttachPrepError else { return "\(error)" }
        return known.detail.map { "\(known.message) [\($0)]" } ?? known.message
    }

    var lines: [StyledText] {
        let head = StyledText.answer(examination != nil) + "  keep jobs in the database"
        guard let examination else { return [head] }
        return [head] + examination.lines.map { StyledText("     \($0)") }
            + examination.warnings.map { StyledText("warning: \($0)", .warning) }
    }
}
