import AttachPrep
import AttachPrepModel
import AttachPrepService
import Logging
import MediaTypes
import PostgresDatabase

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
            (self.examination, faults) = (examination, Self.faults(examination))
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

    private static func faults(_ examination: PostgresDiagnostics) -> [String] {
        guard !examination.isInRecovery else {
            return [
                "The database is a standby and accepts no changes; name all hosts in --queue, with "
                    + "target_session_attrs=read-write."
            ]
        }
        let hasTables = examination.tables.contains { $0.name == "job" }
        return hasTables || examination.mayCreateTables
            ? []
            : [
                "The tables do not exist and \(examination.role) may not create them; run attachprep jobs migrate as "
                    + "their owner."
            ]
    }

    var lines: [StyledText] {
        let head = StyledText.answer(faults.isEmpty) + "  keep jobs in the database"
        guard let examination else { return [head] }
        let encryption =
            examination.tls.map { "\($0), authorities in \(examination.rootCertificateFile ?? "libpq's own file")" }
            ?? "no TLS"
        let pooler = examination.isPooled ? " behind a pooler, which delivers no notifications: polls" : ""
        return [
            head, Self.line("PostgreSQL \(examination.serverVersion) at \(examination.host)\(pooler)"),
            Self.line("role \(examination.role), \(encryption)"), Self.line(examination.durability.sentence),
        ]
            + examination.tables.map {
                Self.line("\(TerminalText.column($0.name, width: 16)) \($0.liveRows) rows, \($0.deadRows) dead")
            } + warnings(examination).map { StyledText("warning: \($0)", .warning) }
    }

    private static func line(_ text: String) -> StyledText { StyledText("     \(text)", .dim) }

    /// Transactions and slots older than this keep dead rows, which slow claims down.
    private static let oldestSecondsMax: Int64 = 600

    private func warnings(_ examination: PostgresDiagnostics) -> [String] {
        var warnings: [String] = []
        if let seconds = examination.health.oldestTransactionSeconds, seconds > Self.oldestSecondsMax {
            warnings.append("a transaction has been open for \(seconds) s and keeps dead rows; end it.")
        }
        warnings += examination.slots.filter { !$0.isActive }.map { slot in
            "the replication slot \(slot.name) has no reader and keeps \(slot.keptBytes ?? 0) bytes of WAL; drop it."
        }
        return warnings
    }
}
