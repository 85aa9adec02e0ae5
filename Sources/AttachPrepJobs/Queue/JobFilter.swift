public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Which jobs are meant; nil does not choose.
public struct JobFilter: Sendable, Hashable {
    public var states: Set<JobState>?
    /// A part of the job's id, of the caller's id, of the source's address or of the error's code; case does not count.
    public var search: String?
    public var ids: [JobID]?
    public var createdBefore: Date?
    /// Failed and dead jobs alone, with these codes.
    public var errors: Set<ErrorCode>?

    public init(
        states: Set<JobState>? = nil, search: String? = nil, ids: [JobID]? = nil, createdBefore: Date? = nil,
        errors: Set<ErrorCode>? = nil
    ) {
        self.states = states
        self.search = search
        self.ids = ids
        self.createdBefore = createdBefore
        self.errors = errors
    }
}
