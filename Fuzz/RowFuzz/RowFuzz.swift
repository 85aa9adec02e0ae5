import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import FuzzSupport
import MediaTypes
import SQLStore
import Synchronization

/// Fuzzes the job store with rows that another program, another version or a bad disk has left: wrong types, extreme
/// and negative numbers, long texts, too few columns.
@main enum RowFuzz {
    static func main() {
        FuzzTarget.run { input in
            let database = HostileRows(input)
            let failure = Waiting.result { await use(database) }
            if let failure {
                Invariant.hold(failure is AttachPrepError, "an expected error type: \(failure)")
            }
        }
    }

    /// - Returns: An error of a type that callers do not expect.
    private static func use(_ database: HostileRows) async -> (any Error)? {
        var unexpected: (any Error)?
        func attempt(_ work: () async throws -> Void) async {
            do { try await work() } catch { if !(error is AttachPrepError) { unexpected = error } }
        }
        guard let seal = try? SecretSeal("k:\(String(repeating: "A", count: 43))=") else {
            Invariant.broken("the key is valid")
        }
        await attempt {
            let store = try await SQLJobStore.open(
                database, seal: database.isSealed ? seal : nil, files: nil, uploads: NoUploads(), feed: JobFeed())
            let id = JobID.make()
            await attempt {
                let jobs = try await store.claim(3, by: "worker", lease: .seconds(15), hostLimit: 2)
                for job in jobs {
                    await attempt { _ = try await store.finish(job.lease, .cancelled, notice: nil) }
                    await attempt { try await store.release([job.lease]) }
                }
            }
            await attempt { _ = try await store.list(JobFilter(search: "a"), after: nil, limit: 5) }
            await attempt { _ = try await store.counts() }
            await attempt { _ = try await store.pace(until: .now) }
            await attempt { _ = try await store.nextDue() }
            await attempt { _ = try await store.cancel(id) }
            await attempt { _ = try await store.retry(id) }
            await attempt { _ = try await store.retry(JobFilter()) }
            await attempt { _ = try await store.purge(JobFilter()) }
            await attempt { _ = try await store.log(of: id) }
            await attempt { _ = try await store.claimWebhooks(3, lease: .seconds(15)) }
            await attempt { _ = try await store.webhooks(WebhookFilter(), after: nil, limit: 5) }
            await attempt { _ = try await store.replayWebhooks(WebhookFilter()) }
            await attempt { _ = try await store.giveUpWebhooks(to: "https://hooks.example/", error: "gone") }
            await attempt { _ = try await store.result(for: WorkKey("key")) }
            await attempt { _ = try await store.upload(.make()) }
            await attempt { _ = try await store.workers() }
            await attempt { _ = try await store.campaigns(after: nil, limit: 5) }
            await attempt { _ = try await store.receiptKey() }
            await attempt { _ = try await store.sweep() }
            await store.close()
        }
        return unexpected
    }
}

/// A database that answers every query with rows from the input, and no rows once the input has ended.
private final class HostileRows: SQLDatabase {
    let dialect: SQLDialect
    let isSealed: Bool
    let notifications: AsyncStream<SQLNotification>
    private let bytes: Mutex<ArraySlice<UInt8>>

    init(_ input: FuzzInput) {
        var input = input
        let choice = input.byte()
        dialect = choice & 1 == 0 ? .postgres : .sqlite
        isSealed = choice & 2 == 0
        // Messages of other processes.
        let message = choice & 4 == 0 ? "7 q\(JobID.make())" : "x \u{301}\u{301}"
        notifications = AsyncStream { continuation in
            continuation.yield(.message(message))
            continuation.finish()
        }
        bytes = Mutex(input.bytes)
    }

    var unavailableReason: String? { nil }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Value
    ) async throws -> Value {
        try body(HostileConnection(database: self))
    }

    func transact(
        _ order: TransactionOrder, _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws {
        try body(HostileConnection(database: self))
    }

    func close() {}

    func result() -> SQLResult {
        bytes.withLock { bytes in
            let rows = (0..<Int(Self.next(&bytes) % 4)).map { _ in
                SQLRow((0..<Int(Self.next(&bytes) % 24)).map { _ in Self.value(&bytes) })
            }
            return SQLResult(rows: rows, changes: Int(Self.next(&bytes)))
        }
    }

    private static func next(_ bytes: inout ArraySlice<UInt8>) -> UInt8 { bytes.popFirst() ?? 0 }

    private static func value(_ bytes: inout ArraySlice<UInt8>) -> SQLValue {
        let byte = next(&bytes)
        if Int(byte) < values.count { return values[Int(byte)] }
        return byte < 128 ? .integer(Int64(byte)) : .text(String(decoding: [byte, next(&bytes)], as: UTF8.self))
    }

    private static let values: [SQLValue] = [
        .null, .integer(0), .integer(1), .integer(.max), .integer(.min), .integer(-1), .integer(1_795_294_262_000),
        .blob([0xFF, 0]), .text(""), .text("queued"), .text("running"), .text("succeeded"), .text("failed"),
        .text("cancelled"), .text("pending"), .text("01a1ffe0-72f0-70f0-9182-c46a31bc0f5e"),
        .text("msg_01a1ffe072f070f09182c46a31bc0f5e"), .text(#"{"source":"https://cdn.example/a.jpg"}"#),
        .text(#"{"source":"https://cdn.example/","headers":{"a":"b"},"callbackURL":"https://hooks.example/?token=a"}"#),
        .text("{"), .text("[]"), .text("[\"\"]"), .text("null"), .text("attachment.prepared"),
        .text("k:AAAA"), .text("e" + String(repeating: "\u{301}", count: 20_000)),
        .text(String(repeating: "[", count: 20_000)), .text(String(repeating: "9", count: 20_000)),
        .text(String(repeating: "a", count: 1_000_000)), .text("https://hooks.example/"), .text("summer"),
    ]
}

private struct HostileConnection: SQLConnection {
    let database: HostileRows

    var dialect: SQLDialect { database.dialect }
    var milliseconds: Int64? { database.dialect == .postgres ? 1_795_294_262_000 : nil }

    func run(_ statements: [SQLStatement]) -> [SQLResult] { statements.map { _ in database.result() } }

    func notify(_ message: String) {}
}
