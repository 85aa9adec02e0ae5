#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
