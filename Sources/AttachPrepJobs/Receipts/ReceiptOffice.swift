public import Logging
public import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Gives payloads the right to be reported, and takes the reports.
///
/// ```swift
/// let office = ReceiptOffice(
///     store: store, key: try await ReceiptKey.open(folder: folder), baseURL: "https://push.example")
/// let receipt = try await office.receipt(campaign: "spring", recipients: 20_000)
/// ```
public struct ReceiptOffice: Sendable {
    /// Behind the service's address.
    public static let path = "/v1/receipts"

    private let store: any ReceiptStore
    private let key: ReceiptKey
    private let baseURL: String?
    private let metrics: ReceiptMetrics?
    private let logger: Logger

    /// - Parameter baseURL: where devices reach the service; nil writes no receipts.
    public init(
        store: any ReceiptStore, key: ReceiptKey, baseURL: String?, metrics: ReceiptMetrics? = nil,
        logger: Logger = Logger(label: "attachprep.receipts")
    ) {
        self.store = store
        self.key = key
        self.baseURL = baseURL
        self.metrics = metrics
        self.logger = logger
    }

    /// What a payload carries so that its arrival can be reported; noted in the store when it returns.
    ///
    /// - Parameters:
    ///   - campaign: counted together with all that have the same name; nil is `default`.
    ///   - recipients: to how many devices the payload goes.
    ///   - sentAt: when it goes out; nil is now.
    /// - Throws: `request.invalid` for a name or a number that cannot be, and without the service's own address;
    ///   `request.conflict` for too many campaigns; `queue.unavailable`.
    public func receipt(campaign: String?, recipients: Int, sentAt: Date? = nil) async throws -> PushReceipt {
        guard let baseURL else {
            throw AttachPrepError(
                .requestInvalid, "Receipts go to the service's own address, which its operator has not set (base URL).")
        }
        let dispatch = try Dispatch(
            campaign: try CampaignName(naming: campaign), sentAt: sentAt ?? .now, recipients: recipients)
        try await store.keep(dispatch)
        let place = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        // Bounded: texts, not numbers.
        return PushReceipt(url: place + Self.path, token: ReceiptToken(dispatch.id, key: key).text)
    }

    /// What a device said, read and checked without a look at the store.
    ///
    /// - Throws: `request.unauthorized`, `request.invalid`.
    public func arrival(_ report: PushReceiptReport) throws(AttachPrepError) -> Arrival {
        do {
            return try Arrival(report, key: key)
        } catch {
            metrics?.countRefused()
            throw error
        }
    }

    /// Counts arrivals, each once.
    ///
    /// - Returns: what became of each, in their order.
    /// - Throws: `queue.unavailable`.
    public func take(_ arrivals: [Arrival]) async throws -> [ArrivalStanding] {
        guard !arrivals.isEmpty else { return [] }
        let standings = try await store.take(arrivals)
        for (arrival, standing) in zip(arrivals, standings) {
            metrics?.count(standing, of: arrival.outcome)
            if standing == .surplus(isFirst: true) {
                logger.warning(
                    "a payload arrived more often than it has recipients; no more of it is counted",
                    metadata: ["dispatch": "\(String(arrival.dispatch.bits, radix: 16))"])
            }
        }
        return standings
    }

    /// Nil when there is none.
    public func campaign(_ name: CampaignName) async throws -> Campaign? { try await store.campaign(name) }

    /// Campaigns, the one that began last first.
    public func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage {
        try await store.campaigns(after: cursor, limit: limit)
    }
}
