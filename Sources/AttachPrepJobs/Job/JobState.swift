/// Where a job is in its life.
public enum JobState: String, Codable, Sendable, Hashable, CaseIterable {
    /// Waits for its turn, its time, or its next attempt.
    case queued
    /// A worker holds its lease.
    case running
    /// An attachment exists.
    case succeeded
    /// A permanent error.
    case failed
    /// Retries used up.
    case dead
    /// Called off by its caller.
    case cancelled

    /// Whether nothing more happens to it unless somebody asks for it.
    public var isFinished: Bool { self != .queued && self != .running }

    /// Whether it can be asked to run again.
    public var isRetryable: Bool { self == .failed || self == .dead || self == .cancelled }
}
