import Foundation
import FuzzSupport
import MediaTypes

@testable import PostgresDatabase
@testable import SQLStore

/// Fuzzes the PostgreSQL client against a hostile server below libpq: connections, transactions, results and
/// notifications while the server's messages are corrupted.
@main enum PostgresFuzz {
    private static let peer = PostgresPeer()
    private static let settings: PostgresTransaction.Settings = {
        var timeouts = PostgresTimeouts()
        timeouts.roundTrip = .milliseconds(300)
        guard let schema = try? PostgresSchema("fuzz") else { Invariant.broken("fuzz is the name of a schema") }
        return PostgresTransaction.Settings(schema: schema, timeouts: timeouts, milliseconds: nil)
    }()
    // Read and written only by the fuzzing thread, one input after the other.
    nonisolated(unsafe) private static var descriptors = DescriptorCount()

    /// libpq waits up to 2 s for a connection, and each of a dozen round trips has a deadline; the rest is for a loaded
    /// machine and the address sanitizer.
    private static let longest = Duration.seconds(12)

    static func main() {
        // So that a server that asks for one gets one.
        setenv("PGPASSWORD", "password", 1)
        FuzzTarget.run { input in try play(input) }
    }

    private static func play(_ input: FuzzInput) throws {
        var input = input
        let steps = (0..<(1 + Int(input.byte()) % 8)).map { _ in input.byte() }
        let url = "postgres://user@127.0.0.1:\(peer.port)/base?sslmode=disable&gssencmode=disable"
        let address = try PostgresAddress(url, environment: [:])
        peer.begin(PostgresScript(input))
        let stopwatch = FairStopwatch()
        do { try use(address, steps) } catch {
            Trace.show("=== \(error)")
            Invariant.hold(error is PostgresError || error is SQLError, "an expected error type: \(error)")
            check((error as? PostgresError)?.meaning(.committing, database: "base") ?? error as? SQLError)
        }
        let took = stopwatch.took
        peer.end()
        Invariant.hold(took < longest, "every wait has a deadline: took \(took)")
        descriptors.check()
    }

    private static func check(_ error: SQLError?) {
        guard let error else { return }
        Invariant.hold(error.detail.utf8.count < 3_000, "details are cut: \(error.detail.utf8.count) bytes")
        Invariant.hold(!error.detail.contains("\u{1B}"), "details have no control characters")
        Invariant.hold(!"\(error)".contains("secret"), "errors have no parameters")
    }

    private static func use(_ address: PostgresAddress, _ steps: [UInt8]) throws {
        let connection = try PostgresConnection(address)
        _ = connection.facts
        for step in steps {
            Trace.show("--- step \(step % 8)")
            do { try perform(step, on: connection) } catch {
                guard connection.isUsable else { throw error }
                Trace.show("=== \(error)")
            }
            if connection.isClosedByServer(within: settings.timeouts.roundTrip) { break }
        }
    }

    private static func perform(_ step: UInt8, on connection: PostgresConnection) throws {
        switch step % 8 {
        case 0, 1: try transact(.read, connection) { try read($0) }
        case 2, 3:
            try transact(.write(.exclusive), connection) {
                _ = $0.milliseconds
                try read($0)
                try $0.notify("message")
            }
        case 4: try transact(.write(.parallel), connection) { try $0.notify("message") }
        case 5: try connection.runLater([SQLStatement("COMMIT")])
        case 6:
            for payload in try connection.notifications(on: settings.schema.channel) {
                Invariant.hold(payload.utf8.count <= 10_000_000, "notifications are finite")
            }
        default:
            connection.dropNotifications()
            let statements = Array(repeating: SQLStatement("SELECT $1", ["secret"]), count: Int(step >> 3))
            let outcomes = try connection.run(statements, within: settings.timeouts.roundTrip)
            Invariant.hold(outcomes.count == statements.count, "every statement has its result")
        }
    }

    private static func transact(
        _ mode: PostgresTransaction.Mode, _ connection: PostgresConnection,
        _ body: (PostgresTransaction) throws -> Void
    ) throws {
        let transaction = PostgresTransaction(connection, mode, settings)
        do {
            try body(transaction)
            try transaction.finish()
        } catch {
            transaction.abandon()
            throw error
        }
    }

    /// Reads rows as every type.
    private static func read(_ transaction: PostgresTransaction) throws {
        let arguments: [SQLValue] = ["secret", 7, .blob([0, 1]), nil, .texts(["a", "\""])]
        let results = try transaction.run([SQLStatement("SELECT $1", arguments), SQLStatement("UPDATE", arguments)])
        Invariant.hold(results.count == 2, "every statement has its result")
        for row in results.flatMap(\.rows) {
            for index in -1...row.values.count {
                let (number, whole, text): (Int64, Int, String) = (row[index], row[index], row[index])
                let (isTrue, bytes): (Bool, [UInt8]) = (row[index], row[index])
                Invariant.hold(Int64(whole) == number && isTrue == (number != 0), "one number in all types")
                Invariant.hold(text.utf8.count <= Limits.databaseResultBytesMax, "texts are bounded")
                Invariant.hold(bytes.count <= Limits.databaseResultBytesMax, "bytes are bounded")
            }
        }
    }
}
