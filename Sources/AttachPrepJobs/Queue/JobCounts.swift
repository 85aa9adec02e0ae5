public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
