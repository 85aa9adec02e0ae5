import AttachPrepJobs
import RichPush

/// Where the jobs of a command are: behind a running service, or in a data folder.
protocol JobDesk: Sendable {
    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage
    /// - Throws: `request.not_found`.
    func job(_ id: JobID) async throws -> Job
    func log(of id: JobID) async throws -> [JobLogLine]
    func retry(_ id: JobID) async throws -> Job
    func cancel(_ id: JobID) async throws -> Job
    func purge(_ filter: JobFilter) async throws -> Int
    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookRows
    func replay(_ filter: WebhookFilter) async throws -> Int
    func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage
    /// - Throws: `request.not_found`.
    func campaign(_ name: CampaignName) async throws -> Campaign
    /// Lets go of what is open.
    func close() async
}

/// Some webhooks of many, as a service answers them.
struct WebhookRows: Codable, Sendable {
    var webhooks: [WebhookRow]
    /// The cursor of the next page.
    var next: String?
}
