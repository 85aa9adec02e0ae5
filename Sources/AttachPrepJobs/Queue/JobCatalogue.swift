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

    /// How jobs ended in the hour before that time; those that were cancelled, removed or queued again since do not
    /// count.
    func pace(until end: Date) async throws -> JobPace

    /// Removes finished jobs for good, with their log lines, webhooks and results that nobody else needs.
    ///
    /// - Returns: how many there were.
    func purge(_ filter: JobFilter) async throws -> Int

    /// Queues failed, dead and cancelled jobs again, each once and the earliest of a state first, until the queue takes
    /// no more. Those whose secrets were wiped are passed over.
    ///
    /// - Returns: how many there were.
    func retry(_ filter: JobFilter) async throws -> Int

    /// The lines that were logged while a job was worked on, in their order; the latest attempts' when there are many.
    func log(of id: JobID) async throws -> [JobLogLine]

    /// Keeps lines; those of jobs that are gone are dropped.
    func append(_ lines: [JobLogLine]) async throws
}
