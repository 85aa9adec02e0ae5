import AttachPrep
package import AttachPrepJobs
package import AttachPrepModel
import Hummingbird
import MediaTypes

/// `/v1/webhooks`: lists webhooks and sends failed ones again.
struct WebhookRoutes: Sendable {
    let store: any JobStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: .get, path: "/v1/webhooks", query: ["state", "job", "search", "limit", "cursor"],
                respond: list),
            Endpoint(method: .post, path: "/v1/webhooks/replay", roles: [.operate], respond: replay),
        ]
    }

    @Sendable private func list(_ request: Request, in context: ServiceContext) async throws -> Response {
        let query = QueryParameters(request)
        let filter = WebhookFilter(
            states: try query.choices("state", WebhookState.self), job: try query.name("job", JobID.init),
            search: try query.search())
        let page = try await store.webhooks(
            filter, after: try query.name("cursor", WebhookID.init), limit: try query.limit())
        return try JSONResponse.response(
            WebhookPageResponse(webhooks: page.webhooks.map(WebhookSummary.init), next: page.next?.text))
    }

    @Sendable private func replay(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: WebhookReplayRequest = try await JSONBody.read(request, context)
        let replayed = try await store.replayWebhooks(try body.filter())
        await context.record(.replay, "\(replayed) webhooks", in: store)
        return try JSONResponse.response(["replayed": replayed])
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
        guard (ids?.count ?? 0) <= Limits.selectedIDsMax else {
            throw AttachPrepError(
                .requestTooLarge, "More than \(Limits.selectedIDsMax) \"ids\"; send several requests.")
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
package struct WebhookSummary: Codable, Sendable, Hashable {
    package var id: String
    package var job: JobID
    @Nullable package var callerID: String?
    package var url: String
    package var event: WebhookNotice.Event
    package var state: WebhookState
    package var attempts: Int
    package var createdAt: String
    @Nullable package var nextAt: String?
    @Nullable package var endedAt: String?
    @Nullable package var lastStatus: Int?
    @Nullable package var lastError: String?

    private enum CodingKeys: String, CodingKey {
        case id, job, callerID, url
        case event = "type"
        case state, attempts, createdAt, nextAt, endedAt, lastStatus, lastError
    }

    package init(_ webhook: Webhook) {
        id = webhook.id.text
        job = webhook.job
        callerID = webhook.callerID
        url = RedactedURL.redact(webhook.notice.url)
        event = webhook.notice.event
        state = webhook.state
        attempts = webhook.attempts
        createdAt = Timestamp.text(webhook.createdAt)
        nextAt = webhook.nextAt.map(Timestamp.text)
        endedAt = webhook.endedAt.map(Timestamp.text)
        lastStatus = webhook.lastStatus
        lastError = webhook.lastError
    }
}

package struct WebhookPageResponse: Codable, Sendable {
    package var webhooks: [WebhookSummary]
    @Nullable package var next: String?

    package init(webhooks: [WebhookSummary], next: String?) {
        self.webhooks = webhooks
        self.next = next
    }
}
