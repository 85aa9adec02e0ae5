import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Glibc
package import Logging
import NATS
import RichPush
import SQLiteQueue
import SafeArithmetic
import Synchronization

/// The job queue on NATS JetStream, which any number of machines share.
///
/// A job is one value in a key-value bucket; each change is conditional on the revision that it replaces. A message in
/// a work-queue stream, on the job's own subject in its lane, delivers the job to workers; a lease is the
/// acknowledgment timeout of that message. Lists and counts come from the local read model, `JobMirror`.
public final class NATSJobQueue: Sendable {
    let layout: QueueLayout
    var names: QueueNames { layout.names }
    let connection: NATSConnection
    let stream: JetStream
    let jobs: KeyValueBucket
    let logs: KeyValueBucket
    let results: KeyValueBucket
    let uploads: ObjectBucket
    let workerDirectory: SharedWorkerDirectory
    let uploadCache: UploadCache
    let lanes: [JobPriority: PullConsumer]
    let mirror: JobMirror
    let held = HeldLeases()
    let deferredDeliveries = DeferredDeliveries()
    let laneRotation = LaneRotation()
    let claimCoalescer = ClaimCoalescer()
    let conflicts = RevisionConflicts()
    let failedRenewals = FailedRenewals()
    let laneStalls = Mutex<[JobPriority: LaneStall]>([:])
    /// What `checkStreams` has seen; `replicas` is that of the stream of lanes.
    let streams = Mutex<(outages: StreamOutages, repair: LaneStreamRepair, replicas: Int?)>(
        (StreamOutages(), LaneStreamRepair(), nil))
    /// The acknowledgment timeout of lane messages.
    let lease: Duration
    private let currentLimits: Mutex<StoreLimits>
    let clock: StoreClock
    let logger: Logger
    let errorLog: NATSErrorLog
    /// `JobWatcher` and `checkStreams`.
    private let tasks = Mutex<[Task<Void, Never>]>([])
    private let folder: LocalStateFolder

    init(
        _ storage: QueueStorage, _ layout: QueueLayout, folder: LocalStateFolder, mirror: JobMirror, lease: Duration,
        limits: StoreLimits, clock: StoreClock, logger: Logger, errorLog: NATSErrorLog
    ) {
        self.layout = layout
        self.folder = folder
        connection = storage.stream.connection
        stream = storage.stream
        jobs = storage.jobs
        logs = storage.logs
        results = storage.results
        uploads = storage.uploads
        workerDirectory = SharedWorkerDirectory(storage.workers)
        lanes = storage.lanes
        uploadCache = folder.uploads
        self.mirror = mirror
        self.lease = lease
        currentLimits = Mutex(limits)
        self.clock = clock
        self.logger = logger
        self.errorLog = errorLog
    }

    var limits: StoreLimits { currentLimits.withLock { $0 } }

    public func apply(_ limits: StoreLimits) {
        currentLimits.withLock { $0.queuedJobsMax = limits.queuedJobsMax }
    }

    /// Closes the connection to the servers and the read model. Later calls fail with `queue.unavailable`.
    public func close() async {
        let tasks = tasks.withLock(\.self)
        for task in tasks { task.cancel() }
        workerDirectory.close()
        connection.close()
        for task in tasks { await task.value }
        do {
            try await BlockingThread().run { [mirror] in try mirror.close() }
        } catch {
            logger.error("the read model could not be closed", metadata: ["error": "\(error)"])
        }
        folder.close()
    }

    /// Starts to watch the bucket of jobs; returns when the read model contains all existing jobs.
    ///
    /// - Throws: `queue.unavailable` when that takes longer than `Limits.mirrorSecondsMax`.
    func startWatching() async throws {
        let (current, continuation) = AsyncStream.makeStream(of: Never.self)
        let task = Task { [jobs, mirror, clock, logger] in
            let watcher = JobWatcher(bucket: jobs, mirror: mirror, clock: clock, logger: logger)
            await watcher.run { continuation.finish() }
        }
        tasks.withLock { $0.append(task) }
        do {
            try await withDeadline(.now + .seconds(Limits.mirrorSecondsMax), stage: "the start") {
                for await _ in current {}
            }
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            throw AttachPrepError(.queueUnavailable, "Loading the jobs from NATS timed out; try again.")
        }
    }

    /// Starts to check the streams every few seconds.
    func startMonitoring() {
        let task = Task { [weak self] in
            while (try? await ContinuousClock().sleep(for: Self.streamCheckInterval)) != nil {
                guard let self else { return }
                await self.checkStreams()
            }
        }
        tasks.withLock { $0.append(task) }
    }

    deinit {
        for task in tasks.withLock(\.self) { task.cancel() }
    }
}

extension NATSJobQueue {
    /// Opens the queue. Missing streams and buckets are created; existing ones are checked and not changed.
    ///
    /// - Parameters:
    ///   - folder: the local folder for the read model, which is rebuilt at each start, and for copies of uploads; nil
    ///     uses a temporary one.
    ///   - lease: the acknowledgment timeout of lane messages; must be the same on all machines.
    ///   - feed: receives every change, also those of other machines.
    ///   - errorLog: logs the reasons of rejected requests; nil uses a new one. Callers that retry pass the same one
    ///     each time, so that a reason is logged once.
    /// - Throws: `queue.unavailable` with the reason.
    package static func open(
        _ servers: QueueServers, folder: String? = nil, lease: Duration = .seconds(Limits.leaseSeconds),
        limits: StoreLimits = StoreLimits(), clock: StoreClock = .system, feed: JobFeed,
        logger: Logger = Logger(label: "attachprep.jobs"), errorLog: NATSErrorLog? = nil
    ) async throws -> NATSJobQueue {
        let errorLog = errorLog ?? NATSErrorLog(logger)
        let connection = try await QueueErrorMapping.mapError {
            try await NATSConnection.connect(servers.checkedSettings)
        }
        connection.onDenied { errorLog.record(denied: $0) }
        do {
            let layout = QueueLayout(
                names: QueueNames(prefix: servers.prefix), replicas: servers.replicas, lease: lease, limits: limits)
            let storage = try await QueueStorage(layout, in: JetStream(connection))
            let (own, mirror) = try await BlockingThread().run {
                let own = try LocalStateFolder(folder)
                return (own, try JobMirror(path: own.mirrorPath, feed: feed, at: clock.now()))
            }
            let queue = NATSJobQueue(
                storage, layout, folder: own, mirror: mirror, lease: lease, limits: limits, clock: clock,
                logger: logger, errorLog: errorLog)
            do {
                try await queue.startWatching()
                queue.startMonitoring()
            } catch {
                await queue.close()
                throw error
            }
            return queue
        } catch {
            errorLog.record(error, from: connection.serverAddress)
            connection.close()
            throw QueueErrorMapping.error(error)
        }
    }
}

/// The opened streams, consumers and buckets of the queue.
struct QueueStorage: Sendable {
    let stream: JetStream
    let lanes: [JobPriority: PullConsumer]
    let jobs: KeyValueBucket
    let logs: KeyValueBucket
    let results: KeyValueBucket
    let uploads: ObjectBucket
    let workers: KeyValueBucket

    init(_ layout: QueueLayout, in stream: JetStream) async throws {
        self.stream = stream
        do {
            try await layout.ensure(layout.lanes, in: stream)
        } catch let error as NATSError where error.isWithoutAnswer {
            // `monitorStreams` makes it again. Without a process that can start, nobody would.
            guard await stream.availability(layout.lanes) == .leaderless else { throw error }
        }
        try await stream.ensure(layout.deadLetters)
        var lanes: [JobPriority: PullConsumer] = [:]
        for lane in JobPriority.allCases {
            lanes[lane] = try await stream.consumer(lane.rawValue, of: layout.lanes.name)
        }
        self.lanes = lanes
        jobs = try await .open(layout.jobs, in: stream)
        logs = try await .open(layout.logs, in: stream)
        results = try await .open(layout.results, in: stream)
        uploads = try await .open(layout.uploads, in: stream)
        workers = try await .open(layout.workers, in: stream)
    }
}

/// The configurations of the queue's streams, consumers and buckets.
struct QueueLayout: Sendable {
    let names: QueueNames
    let replicas: Int?
    let lease: Duration
    let limits: StoreLimits

    /// All streams, including those behind the buckets.
    var streams: [StreamConfiguration] {
        [lanes, deadLetters] + [jobs, logs, results, workers].map(\.stream) + [uploads.objectStream]
    }

    var lanes: StreamConfiguration {
        var configuration = StreamConfiguration(
            names.lanes, subjects: [names.laneSubjects], description: "attachprep: queued and running jobs")
        configuration.retention = .workQueue
        configuration.replicas = replicas
        return configuration
    }

    var deadLetters: StreamConfiguration {
        var configuration = StreamConfiguration(
            names.deadLetters, subjects: [names.deadLetterSubjects], description: "attachprep: dead letters")
        configuration.maxAge = .seconds(clamping: limits.deadRetentionSeconds)
        configuration.replicas = replicas
        return configuration
    }

    func consumer(_ lane: JobPriority) -> ConsumerConfiguration {
        var configuration = ConsumerConfiguration(stream: names.lanes, filter: names.laneFilter(lane))
        configuration.description = "attachprep: the lane \(lane.rawValue)"
        configuration.ackWait = lease
        return configuration
    }

    /// Has no maximum age, because a job may wait for any time.
    var jobs: BucketConfiguration {
        BucketConfiguration(names.jobs, maxAge: nil, replicas: replicas, description: "attachprep: jobs")
    }

    var logs: BucketConfiguration {
        BucketConfiguration(
            names.logs, maxAge: .seconds(clamping: limits.retentionSeconds), replicas: replicas,
            description: "attachprep: job logs")
    }

    var results: BucketConfiguration {
        BucketConfiguration(
            names.results, maxAge: .seconds(clamping: limits.retentionSeconds), replicas: replicas,
            description: "attachprep: results by work key")
    }

    var workers: BucketConfiguration {
        BucketConfiguration(
            names.workers, maxAge: .seconds(clamping: Limits.workerReportSecondsMax), replicas: replicas,
            description: "attachprep: workers")
    }

    /// Kept for as long as a job with the upload can be retried.
    var uploads: BucketConfiguration {
        BucketConfiguration(
            names.uploads, maxAge: .seconds(clamping: max(limits.retentionSeconds, limits.deadRetentionSeconds)),
            replicas: replicas,
            description: "attachprep: uploads")
    }
}

/// The names of streams, buckets and subjects on the servers.
struct QueueNames: Sendable, Hashable {
    /// The common prefix: letters, digits, `-` and `_`.
    let prefix: String

    /// The stream with one message for each queued or running job, on the job's own subject in its lane.
    var lanes: String { "\(prefix)_lanes" }
    var laneSubjects: String { "\(prefix).lanes.*.*" }
    func laneSubject(_ lane: JobPriority, _ job: String) -> String { "\(prefix).lanes.\(lane.rawValue).\(job)" }
    func laneFilter(_ lane: JobPriority) -> String { "\(prefix).lanes.\(lane.rawValue).*" }

    /// The stream of dead letters: jobs as JSON, without secrets.
    var deadLetters: String { "\(prefix)_dead" }
    var deadLetterSubjects: String { "\(prefix).dead.*" }
    func deadLetterSubject(_ job: String) -> String { "\(prefix).dead.\(job)" }

    var jobs: String { "\(prefix)_jobs" }
    var logs: String { "\(prefix)_logs" }
    var results: String { "\(prefix)_results" }
    var uploads: String { "\(prefix)_uploads" }
    var workers: String { "\(prefix)_workers" }
}

/// The local folder of a queue on NATS servers, with the read model and copies of uploads. All of it can be rebuilt.
final class LocalStateFolder: Sendable {
    let uploads: UploadCache
    let mirrorPath: String
    /// Nil when a folder is configured.
    private let temporary: TemporaryDataFolder?
    private let lock: FolderLock

    /// Opens and locks the folder.
    ///
    /// - Parameter path: a folder that no other process uses; nil uses a temporary one, which `close()` removes.
    /// - Throws: `queue.unavailable` when another process has locked it, or it cannot be used.
    init(_ path: String?) throws {
        temporary = path == nil ? try TemporaryDataFolder() : nil
        let folder = DataFolder(path: path ?? temporary?.path ?? "")
        try folder.makePath()
        lock = try FolderLock(folder, for: "serve or worker")
        // A subfolder, separate from the files of the SQLite driver.
        let own = DataFolder(path: "\(folder.path)/nats")
        try own.makePath()
        uploads = try UploadCache(path: own.path)
        mirrorPath = "\(own.path)/mirror.sqlite"
    }

    func close() {
        temporary?.remove()
        lock.release()
    }
}

extension Limits {
    /// Time limit for reading all jobs from the NATS servers at startup; after it, startup fails.
    static let mirrorSecondsMax = 120.0
}
