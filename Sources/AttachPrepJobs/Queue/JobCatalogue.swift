public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What there is in a queue, for people and their tools. Each driver passes the suite `JobCatalogueConformance`.
public protocol JobCatalogue: Sendable {
    /// Jobs by the time of their creation, the latest first. Dead letters are those of the state `dead`.
    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage

    func counts() async throws -> JobCounts

    /// Removes finished jobs for good, with their log lines, webhooks and results that nobody else needs.
    ///
    /// - Returns: how many there were.
    func purge(_ filter: JobFilter) async throws -> Int

    /// The lines that were logged while a job was worked on, in their order; the latest attempts' when there are many.
    func log(of id: JobID) async throws -> [JobLogLine]

    /// Keeps lines; those of jobs that are gone are dropped.
    func append(_ lines: [JobLogLine]) async throws
}

/// Which jobs are meant; nil does not choose.
public struct JobFilter: Sendable, Hashable {
    public var states: Set<JobState>?
    /// A part of the job's id, of the caller's id, of the source's address or of the error's code; case does not count.
    public var search: String?
    public var ids: [JobID]?
    public var createdBefore: Date?

    public init(
        states: Set<JobState>? = nil, search: String? = nil, ids: [JobID]? = nil, createdBefore: Date? = nil
    ) {
        self.states = states
        self.search = search
        self.ids = ids
        self.createdBefore = createdBefore
    }
}

/// Some jobs of many.
public struct JobPage: Sendable {
    public var jobs: [Job]
    /// The cursor of the next page; nil on the last one.
    public var next: JobID?

    public init(jobs: [Job], next: JobID?) {
        self.jobs = jobs
        self.next = next
    }
}

/// The queue in numbers.
public struct JobCounts: Sendable, Hashable {
    /// Jobs there are, by state; every state has a number.
    public var byState: [JobState: Int]
    /// Failed and dead jobs there are, by code.
    public var byError: [ErrorCode: Int]
    /// Queued jobs that could run now.
    public var due: Int
    /// Since when the oldest of those could.
    public var oldestDue: Date?

    public init(byState: [JobState: Int], byError: [ErrorCode: Int], due: Int, oldestDue: Date?) {
        self.byState = byState
        self.byError = byError
        self.due = due
        self.oldestDue = oldestDue
    }
}

/// A line of a job's log.
public struct JobLogLine: Codable, Sendable, Hashable {
    public var job: JobID
    public var date: Date
    /// swift-log's word: info, warning…
    public var level: String
    /// With its metadata, as `message key=value`.
    public var text: String

    public init(job: JobID, date: Date, level: String, text: String) {
        self.job = job
        self.date = date
        self.level = level
        self.text = text
    }
}
