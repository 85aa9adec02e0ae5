public import FoundationEssentials
package import MediaTypes
import Synchronization

/// What a worker reports about itself every few seconds.
public struct WorkerReport: Sendable, Hashable, Codable {
    /// The name that it claims jobs with.
    public var name: String
    public var host: String
    /// The version of its program.
    public var version: String
    public var startedAt: Date
    /// When it made this report, by its own clock.
    public var reportedAt: Date
    /// The number of jobs that it processes.
    public var running: Int
    /// The maximum of `running`.
    public var concurrency: Int
    /// The number of media files that it decodes or encodes at a time.
    public var mediaSlots: Int
    /// Whether it shuts down and claims no more jobs.
    public var isDraining: Bool
    /// The dependencies that are away for it, for which its jobs wait.
    public var outages: [DependencyOutage]

    public init(
        name: String, host: String, version: String, startedAt: Date, reportedAt: Date, running: Int, concurrency: Int,
        mediaSlots: Int, isDraining: Bool, outages: [DependencyOutage] = []
    ) {
        self.name = name
        self.host = host
        self.version = version
        self.startedAt = startedAt
        self.reportedAt = reportedAt
        self.running = running
        self.concurrency = concurrency
        self.mediaSlots = mediaSlots
        self.isDraining = isDraining
        self.outages = outages
    }
}

/// The workers of a queue, on all machines.
public protocol WorkerDirectory: Sendable {
    /// Replaces the last report of the worker.
    func report(_ worker: WorkerReport) async throws

    /// Removes a worker that has ended.
    func withdraw(_ name: String) async throws

    /// The workers that reported within the last `Limits.workerReportSecondsMax`, by name.
    func workers() async throws -> [WorkerReport]
}

/// The worker of a queue that only this process uses, in memory.
public final class LocalWorkerDirectory: WorkerDirectory {
    private let reports = Mutex<[String: WorkerReport]>([:])

    public init() {}

    public func report(_ worker: WorkerReport) { reports.withLock { $0[worker.name] = worker } }

    public func withdraw(_ name: String) { reports.withLock { $0[name] = nil } }

    public func workers() -> [WorkerReport] { reports.withLock { $0.values.sorted { $0.name < $1.name } } }
}

extension Limits {
    /// Interval of reports of a worker.
    package static let workerReportSeconds = 5.0
    /// A worker without a report for this long has ended or lost its connection: six missed reports.
    package static let workerReportSecondsMax = 30.0
}
