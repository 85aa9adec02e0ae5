public import AttachPrepModel
public import FoundationEssentials
public import Logging
public import Metrics
public import RichPush

/// Issues receipt tokens for payloads, and counts the receipts that devices send.
///
/// ```swift
/// let receiptService = ReceiptService(
///     store: store, key: try await ReceiptKey.open(folder: folder), baseURL: "https://push.example")
/// let receipt = try await receiptService.receipt(campaign: "spring", recipients: 20_000)
/// ```
public struct ReceiptService: Sendable {
    /// Path of the receipt endpoint.
    public static let path = "/v1/receipts"

    private let store: any ReceiptStore
    private let key: ReceiptKey
    private let baseURL: String?
    private let metrics: ReceiptMetrics?
    private let logger: Logger

    /// - Parameter baseURL: the URL at which devices reach the service; with nil no receipts are issued.
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

    /// Stores a dispatch, and returns the receipt that its payload carries so that devices can report its arrival.
    ///
    /// - Parameters:
    ///   - campaign: the campaign that the receipts are counted for; nil is `default`.
    ///   - recipients: the number of devices that the payload is sent to.
    ///   - sentAt: when the payload is sent; nil is now.
    /// - Throws: `request.invalid` for an invalid name or number, and without a base URL; `request.conflict` for too
    ///   many campaigns; `queue.unavailable`.
    public func receipt(campaign: String?, recipients: Int, sentAt: Date? = nil) async throws -> PushReceipt {
        guard let baseURL else {
            throw AttachPrepError(
                .requestInvalid, "Receipts need the service's public address; the operator has to set its base URL.")
        }
        let dispatch = try Dispatch(
            campaign: try CampaignName(naming: campaign), sentAt: sentAt ?? .now, recipients: recipients)
        try await store.store(dispatch)
        let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
        return PushReceipt(url: base + Self.path, token: ReceiptToken(dispatch.id, key: key).text)
    }

    /// Validates a device's report; does not access the store.
    ///
    /// - Throws: `request.unauthorized`, `request.invalid`.
    public func arrival(_ report: PushReceiptReport) throws(AttachPrepError) -> VerifiedReceipt {
        do {
            return try VerifiedReceipt(report, key: key)
        } catch {
            metrics?.countRefused()
            throw error
        }
    }

    /// Counts arrivals, each at most once.
    ///
    /// - Returns: The status of each, in the same order.
    /// - Throws: `queue.unavailable`.
    public func record(_ arrivals: [VerifiedReceipt]) async throws -> [ReceiptStatus] {
        guard !arrivals.isEmpty else { return [] }
        let statuses = try await store.record(arrivals)
        for (arrival, status) in zip(arrivals, statuses) {
            metrics?.count(status, of: arrival.outcome)
            if status == .surplus(isFirst: true) {
                logger.warning(
                    "a payload has more receipts than recipients; further receipts of it are not counted",
                    metadata: ["dispatch": "\(String(arrival.dispatch.bits, radix: 16))"])
            }
        }
        return statuses
    }

    /// Returns a campaign; nil when there is none with this name.
    public func campaign(_ name: CampaignName) async throws -> Campaign? { try await store.campaign(name) }

    /// Returns campaigns, the newest first.
    public func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage {
        try await store.campaigns(after: cursor, limit: limit)
    }
}

/// Metrics of receipts.
///
/// | name | labels |
/// | --- | --- |
/// | `attachprep_receipts_total` | `outcome`: attached, thumbnail, text, repeated, surplus, expired, refused |
/// | `attachprep_send_to_attach_seconds` | |
public struct ReceiptMetrics: Sendable {
    /// Receipts by `outcome`: `attached`, `thumbnail`, `text`, and those not counted: `repeated`, `surplus`, `expired`,
    /// `refused`.
    public static let receiptsLabel = "attachprep_receipts_total"
    /// Seconds from sending until a notification was shown with an attachment.
    public static let secondsLabel = "attachprep_send_to_attach_seconds"

    private let factory: any MetricsFactory

    public init(factory: any MetricsFactory) {
        self.factory = factory
        // Counters start at 0, so that the first event is visible as an increase.
        for kind in PushReceiptReport.Outcome.allCases.map(\.rawValue) + ["repeated", "surplus", "expired", "refused"] {
            count(kind, amount: 0)
        }
    }

    func count(_ status: ReceiptStatus, of outcome: PushReceiptReport.Outcome) {
        switch status {
        case .counted(let seconds):
            count(outcome.rawValue)
            if let seconds {
                Timer(label: Self.secondsLabel, dimensions: [], factory: factory).recordSeconds(seconds)
            }
        case .repeated: count("repeated")
        case .surplus: count("surplus")
        case .expired: count("expired")
        }
    }

    func countRefused() { count("refused") }

    private func count(_ outcome: String, amount: Int = 1) {
        Counter(label: Self.receiptsLabel, dimensions: [("outcome", outcome)], factory: factory)
            .increment(by: amount)
    }
}
