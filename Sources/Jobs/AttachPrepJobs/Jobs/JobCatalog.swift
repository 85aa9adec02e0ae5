public import AttachPrep
public import AttachPrepModel
public import FoundationEssentials
public import MediaTypes
import SafeArithmetic

/// Lists, counts and bulk operations on the jobs of a queue. The suite `JobCatalogConformance` runs on each database.
public protocol JobCatalog: Sendable {
    /// Returns jobs by creation time, latest first. Dead letters are the jobs in state `dead`.
    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage

    /// Counts the jobs of a selection.
    func count(_ filter: JobFilter) async throws -> Int

    /// Counts jobs by state and by error, and the jobs that are due or paused.
    func counts() async throws -> JobCounts

    /// Counts how jobs ended in the hour before `end`. Jobs that were cancelled, purged or retried since then are not
    /// counted.
    func pace(until end: Date) async throws -> JobPace

    /// Counts how jobs ended in each hour of the week before `end`, as `pace` does.
    ///
    /// - Returns: `JobPace.hoursCount` elements, the earliest first.
    func history(until end: Date) async throws -> [JobPace.Interval]

    /// Deletes finished jobs with their log lines, their webhooks, and results that no other job needs.
    ///
    /// - Returns: The number of jobs.
    func purge(_ filter: JobFilter) async throws -> Int

    /// Queues failed, dead and cancelled jobs again, each once, the oldest of a state first, until the queue is full.
    /// Jobs whose secrets were deleted are skipped.
    ///
    /// - Returns: The number of jobs.
    func retry(_ filter: JobFilter) async throws -> Int

    /// Cancels queued and running jobs, as `JobQueue.cancel` does.
    ///
    /// - Returns: The number of jobs that end or are going to end.
    func cancel(_ filter: JobFilter) async throws -> Int

    /// Moves queued jobs into another lane.
    ///
    /// - Returns: The number of jobs that were in a different one.
    func change(_ filter: JobFilter, to priority: JobPriority) async throws -> Int

    /// The secret of a sealed result, while it is stored: until the job's webhook was delivered, or until the job is
    /// removed. Nil for other jobs.
    func resultSecret(of id: JobID) async throws -> SealedSecret?

    /// Returns the log lines of a job in order; when there are more than the limit, those of the latest attempts.
    func log(of id: JobID) async throws -> [JobLogLine]

    /// Stores log lines; lines of jobs that no longer exist are dropped.
    func append(_ lines: [JobLogLine]) async throws
}

extension JobCatalog {
    /// The job with the secret of its sealed result, for its caller alone.
    package func withSecret(_ job: Job) async throws -> Job {
        guard job.result?.sealed != nil else { return job }
        var job = job
        job.result?.sealed?.secret = try await resultSecret(of: job.id)
        return job
    }
}

/// Selects jobs; a nil member does not restrict the selection.
public struct JobFilter: Sendable, Hashable {
    public var states: Set<JobState>?
    /// Substring of the job's id, the caller's id, the source URL or the error code; case-insensitive.
    public var search: String?
    public var ids: [JobID]?
    public var createdBefore: Date?
    /// Jobs created at this time or later.
    public var createdAfter: Date?
    /// Only jobs whose attachment is of this kind.
    public var kind: MediaKind?
    /// Only running jobs of the worker with this name.
    public var worker: String?
    /// Only failed and dead jobs with these error codes.
    public var errors: Set<ErrorCode>?
    /// Only jobs whose request has exactly this id.
    public var callerID: String?
    /// Only jobs of this batch.
    public var batch: String?
    /// Only jobs that were submitted with this `Idempotency-Key`.
    public var idempotencyKey: String?
    /// Only jobs that have all of these tags.
    public var tags: [String] = []
    /// Only jobs whose source has this host name, in lowercase.
    public var host: String?

    public init(
        states: Set<JobState>? = nil, search: String? = nil, ids: [JobID]? = nil, createdBefore: Date? = nil,
        errors: Set<ErrorCode>? = nil, createdAfter: Date? = nil, kind: MediaKind? = nil, worker: String? = nil
    ) {
        self.states = states
        self.search = search
        self.ids = ids
        self.createdBefore = createdBefore
        self.errors = errors
        self.createdAfter = createdAfter
        self.kind = kind
        self.worker = worker
    }
}

/// One page of a list of jobs.
public struct JobPage: Sendable {
    public var jobs: [Job]
    /// Cursor of the next page; nil on the last page.
    public var next: JobID?

    public init(jobs: [Job], next: JobID?) {
        self.jobs = jobs
        self.next = next
    }
}

/// Numbers of jobs in the queue.
public struct JobCounts: Sendable, Hashable {
    /// Number of jobs by state; every state is a key.
    public var byState: [JobState: Int]
    /// Number of failed and dead jobs by error code.
    public var byError: [ErrorCode: Int]
    /// Number of queued jobs that are due, without those that are paused.
    public var due: Int
    /// When the oldest of those became due.
    public var oldestDue: Date?
    /// Number of queued jobs that would be due, and are held back by a pause.
    public var paused: Int

    public init(byState: [JobState: Int], byError: [ErrorCode: Int], due: Int, oldestDue: Date?, paused: Int = 0) {
        self.byState = byState
        self.byError = byError
        self.due = due
        self.oldestDue = oldestDue
        self.paused = paused
    }
}

/// A line of a job's log.
public struct JobLogLine: Codable, Sendable, Hashable {
    public var job: JobID
    public var date: Date
    /// Level name of swift-log: info, warning…
    public var level: String
    /// The message with its metadata, as `message key=value`, cut to the limit.
    public let text: String

    public init(job: JobID, date: Date, level: String, text: String) {
        self.job = job
        self.date = date
        self.level = level
        self.text = MessageText.excerpt(text, bytesMax: Limits.jobLogBytesMax)
    }
}
