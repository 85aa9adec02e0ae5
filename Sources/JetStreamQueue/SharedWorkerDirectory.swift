public import AttachPrepJobs
import FoundationEssentials
import NATS
import RichPush
import Synchronization

/// The workers of a queue on NATS servers: a bucket with one report for each, which the servers remove when it is old.
///
/// A process that asks for them watches the bucket from then on, so that asking again needs no request.
final class SharedWorkerDirectory: Sendable {
    private let bucket: KeyValueBucket
    private let received = ReceivedReports()
    private let watch = Mutex<Task<Void, Never>?>(nil)

    init(_ bucket: KeyValueBucket) {
        self.bucket = bucket
    }

    func report(_ worker: WorkerReport) async throws {
        let value = try Array(JSONEncoder().encode(worker))
        _ = try await QueueErrorMapping.mapError { try await bucket.make(.init(Self.key(of: worker.name), value)) }
    }

    func withdraw(_ name: String) async throws {
        _ = try await QueueErrorMapping.mapError { try await bucket.make(.init(Self.key(of: name), nil)) }
    }

    /// The current reports; the first call waits until the existing ones have arrived.
    func workers() async -> [WorkerReport] {
        begin()
        return await received.current()
    }

    func close() {
        watch.withLock { $0 }?.cancel()
        received.end()
    }

    private func begin() {
        watch.withLock { watch in
            guard watch == nil else { return }
            watch = Task { [bucket, received] in
                while !Task.isCancelled {
                    // Without the revision of an earlier watch: reports are few and soon replaced.
                    try? await bucket.watch(after: 0) { entries, isCurrent in
                        received.record(entries)
                        if isCurrent { received.end() }
                    }
                    // An unreachable queue has no known workers, which is an answer too.
                    received.end()
                    try? await ContinuousClock().sleep(for: .seconds(1))
                }
            }
        }
    }

    /// Keys are letters, digits and a few signs; a name has the host and a space.
    private static func key(of name: String) -> String {
        String(
            name.unicodeScalars.map { scalar in
                let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
                return isPlain || scalar == "-" ? Character(scalar) : "_"
            })
    }
}

/// The last report of each worker.
private final class ReceivedReports: Sendable {
    private struct Entry {
        var report: WorkerReport
        /// By this machine's clock, since the clocks of machines differ.
        var receivedAt: ContinuousClock.Instant
    }

    private let entries = Mutex<[String: Entry]>([:])
    /// Ends when the existing reports have arrived.
    private let existing: Task<Void, Never>
    private let arriving: AsyncStream<Never>.Continuation

    init() {
        let (stream, arriving) = AsyncStream.makeStream(of: Never.self)
        self.arriving = arriving
        existing = Task { for await _ in stream {} }
    }

    func record(_ changes: [KeyValueEntry]) {
        entries.withLock { entries in
            for change in changes {
                // A report of a later version may have another form; its worker is not shown then.
                let report = change.value.flatMap { try? JSONDecoder().decode(WorkerReport.self, from: Data($0)) }
                entries[change.key] = report.map { Entry(report: $0, receivedAt: .now) }
            }
        }
    }

    /// The existing reports have arrived, or will not.
    func end() { arriving.finish() }

    func current() async -> [WorkerReport] {
        await existing.value
        return entries.withLock { entries in
            let now = ContinuousClock.now
            entries = entries.filter { now - $0.value.receivedAt < .seconds(Limits.workerReportSecondsMax) }
            return entries.values.map(\.report).sorted { $0.name < $1.name }
        }
    }
}

extension NATSJobQueue: WorkerDirectory {
    public func report(_ worker: WorkerReport) async throws { try await workerDirectory.report(worker) }

    public func withdraw(_ name: String) async throws { try await workerDirectory.withdraw(name) }

    public func workers() async -> [WorkerReport] { await workerDirectory.workers() }
}
