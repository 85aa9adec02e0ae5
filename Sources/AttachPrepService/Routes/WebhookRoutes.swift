import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Hummingbird
import RichPush

/// `/v1/webhooks`: lists webhooks and sends failed ones again.
struct WebhookRoutes: Sendable {
    let store: any JobStore

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/v1/webhooks", query: ["state", "job", "limit", "cursor"], respond: list),
            Endpoint(method: .post, path: "/v1/webhooks/replay", respond: replay),
        ]
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let query = QueryParameters(request)
        let filter = WebhookFilter(
            states: try query.choices("state", WebhookState.self), job: try query.name("job", JobID.init))
        let page = try await store.webhooks(
            filter, after: try query.name("cursor", WebhookID.init), limit: try query.limit())
        return try JSONResponse.response(WebhookPageResponse(page))
    }

    @Sendable private func replay(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body: WebhookReplayRequest = try await JSONBody.read(request, context)
        return try JSONResponse.response(ReplayResponse(replayed: try await store.replayWebhooks(try body.filter())))
    }
}

/// Selects the webhooks to send again; all given conditions must match.
struct WebhookReplayRequest: JSONRequest {
    static let keys: Set = ["states", "ids"]

    let states: [WebhookState]?
    let ids: [String]?

    /// - Throws: `request.invalid`.
    func filter() throws -> WebhookFilter {
        guard states != nil || ids != nil else {
            throw AttachPrepError(.requestInvalid, "Set \"states\" or \"ids\"; replaying all webhooks is not allowed.")
        }
        guard (ids?.count ?? 0) <= Limits.batchRequestsMax else {
            throw AttachPrepError(
                .requestTooLarge, "More than \(Limits.batchRequestsMax) \"ids\"; send several requests.")
        }
        let known = try ids?.map { text in
            guard let id = WebhookID(text) else {
                throw AttachPrepError(
                    .requestInvalid, "\"ids\" contains an invalid webhook id; a valid one looks like msg_0193….")
            }
            return id
        }
        return WebhookFilter(states: states.map(Set.init), ids: known)
    }
}

/// A webhook in a list: with a redacted URL and without its body.
struct WebhookSummary: Encodable {
    private let webhook: Webhook

    init(_ webhook: Webhook) {
        self.webhook = webhook
    }

    private enum CodingKeys: String, CodingKey {
        case id, job, type, url, state, attempts, createdAt, nextAt, endedAt, lastStatus, lastError
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(webhook.id.text, forKey: .id)
        try values.encode(webhook.job, forKey: .job)
        try values.encode(webhook.notice.event, forKey: .type)
        try values.encode(RedactedURL.redact(webhook.notice.url), forKey: .url)
        try values.encode(webhook.state, forKey: .state)
        try values.encode(webhook.attempts, forKey: .attempts)
        try values.encode(Timestamp.text(webhook.createdAt), forKey: .createdAt)
        try values.encode(webhook.nextAt.map(Timestamp.text), forKey: .nextAt)
        try values.encode(webhook.endedAt.map(Timestamp.text), forKey: .endedAt)
        try values.encode(webhook.lastStatus, forKey: .lastStatus)
        try values.encode(webhook.lastError, forKey: .lastError)
    }
}

/// A page of webhooks.
struct WebhookPageResponse: Encodable {
    private let page: WebhookPage

    init(_ page: WebhookPage) {
        self.page = page
    }

    private enum CodingKeys: String, CodingKey {
        case webhooks, next
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(page.webhooks.map(WebhookSummary.init), forKey: .webhooks)
        try values.encode(page.next?.text, forKey: .next)
    }
}

/// The number of webhooks to be sent again.
struct ReplayResponse: Encodable {
    var replayed: Int
}
