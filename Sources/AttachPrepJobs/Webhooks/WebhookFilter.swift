public struct WebhookFilter: Sendable, Hashable {
    public var states: Set<WebhookState>?
    public var ids: [WebhookID]?
    public var job: JobID?

    public init(states: Set<WebhookState>? = nil, ids: [WebhookID]? = nil, job: JobID? = nil) {
        self.states = states
        self.ids = ids
        self.job = job
    }
}
