import RichPush

/// Where nobody counts arrivals: behind a queue that is on several machines.
public struct NoReceipts: ReceiptStore {
    public init() {}

    private var refusal: AttachPrepError {
        AttachPrepError(
            .requestInvalid,
            "This service counts no arrivals, since its jobs are on NATS servers; let a service with a data folder "
                + "of its own count them.")
    }

    public func keep(_ dispatch: Dispatch) async throws { throw refusal }
    public func take(_ arrivals: [Arrival]) async throws -> [ArrivalStanding] { throw refusal }
    public func campaign(_ name: CampaignName) async throws -> Campaign? { throw refusal }
    public func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage { throw refusal }
}
