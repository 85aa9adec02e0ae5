import AttachPrepModel
package import MediaTypes
import SafeArithmetic
import Synchronization

/// All stores that a worker and a service need.
public typealias JobStore = JobQueue & JobCatalog & PauseStore & ActionLog & ResultStore & WebhookOutbox & UploadStore

/// Maintenance of a store, for the process that opened it.
public protocol StoreMaintenance: Sendable {
    /// Removes expired and unneeded data; call it at start and then every minute.
    ///
    /// - Throws: `queue.unavailable`; what was removed before stays removed, and the next sweep continues.
    func sweep() async throws -> SweepReport

    /// Whether new jobs and uploads are rejected because files exceed the quota.
    var isFull: Bool { get }

    /// Why the store is unavailable, as a sentence; nil when it is available as far as is known. Makes no call to the
    /// store.
    var unavailableReason: String? { get }

    /// What this machine lacks to process some of the jobs, which wait for it.
    var outages: [DependencyOutage] { get }

    /// Changes the limits of a running store, for the next calls.
    func apply(_ limits: StoreLimits)

    /// Closes the store; later calls fail with `queue.unavailable`.
    func close() async
}

/// The kind of process that opens a store.
public enum StoreRole: Sendable, Hashable {
    /// The only service of the folder: a second one is rejected.
    case service
    /// A command, which runs beside the service and does not create a database.
    case command
}

/// What a committed change survives.
public enum StoreDurability: String, Sendable, Hashable, CaseIterable {
    /// The end of the process, crashes included.
    case normal
    /// A power failure of the machine, too.
    case always
}

/// Quotas and retention times of a store.
public struct StoreLimits: Sendable, Hashable {
    public var queuedJobsMax = Limits.queuedJobsMax
    /// Callers that share the store: the number of tokens.
    public var callersCount = 1
    /// Running jobs of a caller; below the worker's concurrency when there are several callers, so that none of them
    /// occupies all slots.
    public var runningPerCallerMax = Int.max
    public var retentionSeconds = Limits.retentionSeconds
    public var deadRetentionSeconds = Limits.deadRetentionSeconds
    public var mediaQuotaBytes = Limits.mediaQuotaBytes
    public var mediaAgeSecondsMin = Limits.mediaAgeSecondsMin
    public var uploadSecondsMax = Limits.uploadSecondsMax
    /// How long a file without a database row is kept after it was found: 24 h to notice that the database does not
    /// belong to the folder, and to restore it.
    public var unknownFileSeconds = 86_400.0
    public var dispatchSeconds = Limits.dispatchSeconds
    public var campaignSeconds = Limits.campaignSeconds

    public init() {}

    /// Sets what each caller may take when there are several: three quarters of the concurrency, so that others find a
    /// free slot beside long jobs, and a share of the uploads.
    package mutating func share(among callers: Int, concurrency: Int) {
        callersCount = max(1, callers)
        runningPerCallerMax = callers > 1 ? max(1, concurrency.subtracting(clamping: concurrency / 4)) : .max
    }

    /// Bytes of all uploads: three quarters of the quota, because results need the rest.
    package var uploadBytesMax: Int { mediaQuotaBytes.subtracting(clamping: mediaQuotaBytes / 4) }

    /// Bytes of a caller's uploads: an equal share, but at least one upload of the largest size.
    package var uploadBytesPerCallerMax: Int {
        max(uploadBytesMax / max(1, callersCount), min(uploadBytesMax, Limits.sourceBytesMax))
    }
}

/// What a sweep removed.
public struct SweepReport: Sendable, Hashable {
    /// Finished jobs past their retention.
    public var jobs = 0
    public var idempotencyKeys = 0
    /// Receipts of payloads that have expired.
    public var receipts = 0
    /// Campaigns that were unused for `campaignSeconds`.
    public var campaigns = 0
    public var uploads = 0
    public var results = 0
    /// Files of results and uploads, including those that a crash left behind.
    public var files = 0
    /// Files without a database row that are kept for now; counted in sweeps that walk the folders, 0 in others.
    public var unknownFiles = 0
    /// Total size of the removed files in bytes.
    public var bytes = 0
    /// Total size of the remaining files in bytes.
    public var mediaBytes = 0
    /// Whether `mediaBytes` exceeds the quota: the remaining files are too young or still needed.
    public var isOverQuota = false

    public init() {}

    package mutating func add(_ other: SweepReport) {
        jobs = jobs.adding(clamping: other.jobs)
        idempotencyKeys = idempotencyKeys.adding(clamping: other.idempotencyKeys)
        receipts = receipts.adding(clamping: other.receipts)
        campaigns = campaigns.adding(clamping: other.campaigns)
        uploads = uploads.adding(clamping: other.uploads)
        results = results.adding(clamping: other.results)
        files = files.adding(clamping: other.files)
        unknownFiles = unknownFiles.adding(clamping: other.unknownFiles)
        bytes = bytes.adding(clamping: other.bytes)
    }
}

/// A file of a store that was removed, with its size in bytes.
public struct RemovedFile: Sendable {
    package var name: String
    package var bytes: Int

    package init(name: String, bytes: Int) {
        self.name = name
        self.bytes = bytes
    }
}

extension SweepReport {
    package init(_ removed: [RemovedFile]) {
        self.init()
        files = removed.count
        bytes = removed.map(\.bytes).reduce(0, +)
    }
}

extension Limits {
    /// Queued jobs: some 200 MB of database, and a day's work of a small machine.
    package static let queuedJobsMax = 100_000
    /// Finished jobs and their files are kept for a week: by then notifications have been read or dismissed.
    package static let retentionSeconds = 7.0 * 24 * 3600
    /// Dead letters are kept longer, for manual inspection.
    package static let deadRetentionSeconds = 30.0 * 24 * 3600
    /// Total size of result and upload files, in bytes.
    package static let mediaQuotaBytes = 20_000_000_000
    /// Phones fetch soon after the push: newer files are not deleted to free space.
    static let mediaAgeSecondsMin = 3_600.0
    /// An upload that no job names within a day is deleted.
    package static let uploadSecondsMax = 24.0 * 3600
    /// How long arrivals of a payload are counted: APNs stores undelivered notifications for up to 30 days.
    package static let dispatchSeconds = 30.0 * 24 * 3600
    /// Campaigns are kept this long after their last payload or arrival: a quarter can be reviewed.
    package static let campaignSeconds = 100.0 * 24 * 3600
}
