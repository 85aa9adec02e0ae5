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
