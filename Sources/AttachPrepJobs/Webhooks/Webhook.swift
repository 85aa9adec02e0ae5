#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

public enum WebhookState: String, Codable, Sendable, Hashable, CaseIterable {
    case pending
    case delivered
    /// Not wanted by its receiver, or not taken in all the tries of the schedule.
    case givenUp
}

/// A webhook as the outbox has it.
public struct Webhook: Sendable, Hashable {
    public var id: WebhookID
    public var job: JobID
    public var notice: WebhookNotice
    public var state: WebhookState
    /// Tries so far.
    public var attempts: Int
    public var createdAt: Date
    /// When it is tried next; nil when it is not.
    public var nextAt: Date?
    /// When it was delivered or given up.
    public var endedAt: Date?
    /// What the receiver last answered.
    public var lastStatus: Int?
    /// Why the last try failed: a sentence.
    public var lastError: String?

    public init(id: WebhookID, job: JobID, notice: WebhookNotice, state: WebhookState, attempts: Int, createdAt: Date) {
        self.id = id
        self.job = job
        self.notice = notice
        self.state = state
        self.attempts = attempts
        self.createdAt = createdAt
    }
}
