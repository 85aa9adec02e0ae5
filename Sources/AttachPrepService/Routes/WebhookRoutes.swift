import AttachPrepJobs
import Hummingbird
import RichPush

/// Webhooks that are on their way, arrived or given up.
struct WebhookRoutes: Sendable {
    let store: any JobStore

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/v1/webhooks", query: ["state", "job", "limit", "cursor"], respond: list),
            Endpoint(method: .post, path: "/v1/webhooks/replay", respond: replay),
        ]
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let query = Query(request)
        let filter = WebhookFilter(
            states: try query.words("state", WebhookState.self), job: try query.name("job", JobID.init))
        let page = try await store.webhooks(
            filter, after: try query.name("cursor", WebhookID.init), limit: try query.limit())
        return try JSONAnswer.response(WebhookPageAnswer(page))
    }

    @Sendable private func replay(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let order: ReplayOrder = try await JSONBody.read(request, context)
        return try JSONAnswer.response(ReplayAnswer(replayed: try await store.replayWebhooks(try order.filter())))
    }
}

/// Which webhooks are to be sent again; what is given has to hold all at once.
struct ReplayOrder: JSONOrder {
    static let keys: Set = ["states", "ids"]

    let states: [WebhookState]?
    let ids: [String]?

    /// - Throws: `request.invalid`.
    func filter() throws -> WebhookFilter {
        guard states != nil || ids != nil else {
            throw AttachPrepError(.requestInvalid, "Name states or ids: all webhooks at once is not meant.")
        }
        guard (ids?.count ?? 0) <= Limits.batchRequestsMax else {
            throw AttachPrepError(.requestTooLarge, "There are more than \(Limits.batchRequestsMax) ids.")
        }
        let known = try ids?.map { text in
            guard let id = WebhookID(text) else {
                throw AttachPrepError(.requestInvalid, "One of \"ids\" is no webhook's id, as in msg_0193….")
            }
            return id
        }
        return WebhookFilter(states: states.map(Set.init), ids: known)
    }
}
