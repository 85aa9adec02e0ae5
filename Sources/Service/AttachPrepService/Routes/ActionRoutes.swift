import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Hummingbird
import Logging
import MediaTypes

/// `GET /v1/actions`: who retried, cancelled, purged or paused what.
struct ActionRoutes: Sendable {
    let store: any JobStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: .get, path: "/v1/actions", roles: [.read, .operate], query: ["limit", "cursor"], respond: list)
        ]
    }

    @Sendable private func list(_ request: Request, in context: ServiceContext) async throws -> Response {
        let query = QueryParameters(request)
        let limit = try query.limit()
        let cursor = try query.name("cursor", CampaignCursor.init)
        let found = try await store.actions(before: cursor?.number, limit: limit + 1)
        let shown = found.prefix(limit)
        return try JSONResponse.response(
            ActionPageResponse(
                actions: shown.map(ActionPageResponse.Action.init),
                next: found.count > limit ? shown.last.map { "\($0.number)" } : nil))
    }
}

struct ActionPageResponse: Encodable {
    struct Action: Encodable {
        let date: String
        @Nullable var caller: String?
        let kind: OperatorAction.Kind
        let detail: String

        init(_ action: OperatorAction) {
            (date, kind, detail) = (Timestamp.text(action.date), action.kind, action.detail)
            caller = action.caller
        }
    }

    let actions: [Action]
    @Nullable var next: String?
}

extension ServiceContext {
    /// Records what the caller has done. The response does not depend on it: the action has been carried out.
    func record(_ kind: OperatorAction.Kind, _ detail: String, in store: any JobStore) async {
        do {
            try await store.record(OperatorAction(kind, detail, by: token))
        } catch {
            logger.error("cannot record an action", metadata: ["action": "\(kind)", "error": "\(error)"])
        }
    }
}
