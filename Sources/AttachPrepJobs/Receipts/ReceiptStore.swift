/// Payloads that were written, and what devices said of them.
public protocol ReceiptStore: Sendable {
    /// Notes a payload before it is handed out.
    ///
    /// - Throws: `request.conflict` when there are too many campaigns, `queue.unavailable`.
    func keep(_ dispatch: Dispatch) async throws

    /// Counts arrivals, each once: the first one of a dispatch and a report's name stays. All of them, or none.
    ///
    /// - Returns: what became of each, in their order.
    /// - Throws: `queue.unavailable`.
    func take(_ arrivals: [Arrival]) async throws -> [ArrivalStanding]

    /// Nil when there is none.
    func campaign(_ name: CampaignName) async throws -> Campaign?

    /// Campaigns, the one that began last first.
    func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage
}
