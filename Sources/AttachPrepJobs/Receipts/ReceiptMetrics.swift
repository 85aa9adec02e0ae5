public import Metrics
import RichPush

/// What is counted about receipts.
public struct ReceiptMetrics: Sendable {
    /// By what became of them: `attached`, `thumbnail`, `text`, and what is not counted: `repeated`, `surplus`,
    /// `expired`, `refused`.
    public static let receiptsLabel = "attachprep_receipts_total"
    /// Seconds from sending until a notification was shown with an attachment.
    public static let secondsLabel = "attachprep_send_to_attach_seconds"

    private let factory: any MetricsFactory

    public init(factory: any MetricsFactory) {
        self.factory = factory
        // What has not happened yet is 0, so that the first time is seen as a rise.
        for word in PushReceiptReport.Outcome.allCases.map(\.rawValue) + ["repeated", "surplus", "expired", "refused"] {
            count(word, 0)
        }
    }

    func count(_ standing: ArrivalStanding, of outcome: PushReceiptReport.Outcome) {
        switch standing {
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

    private func count(_ outcome: String, _ amount: Int = 1) {
        Counter(label: Self.receiptsLabel, dimensions: [("outcome", outcome)], factory: factory)
            .increment(by: amount)
    }
}
