import AttachPrepJobs
import Hummingbird
import RichPush

/// What came of campaigns.
struct CampaignRoutes: Sendable {
    let office: ReceiptOffice

    var endpoints: [Endpoint] {
        [
            Endpoint(method: .get, path: "/v1/campaigns", query: ["limit", "cursor"], respond: list),
            Endpoint(method: .get, path: "/v1/campaigns/{name}", respond: show),
        ]
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let query = Query(request)
        let page = try await office.campaigns(
            after: try query.name("cursor", CampaignCursor.init), limit: try query.limit())
        return try JSONAnswer.response(page)
    }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        guard let name = context.parameters.get("name").flatMap(CampaignName.init) else {
            throw AttachPrepError(.requestNotFound, "There is no campaign with a name like that.")
        }
        guard let campaign = try await office.campaign(name) else {
            throw AttachPrepError(.requestNotFound, "There is no campaign \(name).")
        }
        return try JSONAnswer.response(campaign)
    }
}
