public import Metrics
import SafeArithmetic

/// What is counted about webhooks.
public struct WebhookMetrics: Sendable {
    /// Tries, by what came of them: `delivered`, `retried`, `given_up`.
    public static let triesLabel = "attachprep_webhooks_total"
    /// Seconds of a try, from the lookup of the name to the end of the answer.
    public static let secondsLabel = "attachprep_webhook_seconds"

    private let delivered: Counter
    private let retried: Counter
    private let givenUp: Counter
    private let seconds: Timer

    public init(factory: any MetricsFactory) {
        func counter(_ outcome: String) -> Counter {
            Counter(label: Self.triesLabel, dimensions: [("outcome", outcome)], factory: factory)
        }
        (delivered, retried, givenUp) = (counter("delivered"), counter("retried"), counter("given_up"))
        seconds = Timer(label: Self.secondsLabel, dimensions: [], factory: factory)
    }

    func count(_ outcome: WebhookOutcome, took duration: Duration) {
        switch outcome {
        case .delivered: delivered.increment()
        case .retry: retried.increment()
        case .givenUp: givenUp.increment()
        }
        seconds.recordNanoseconds(Int64(clamping: duration / .nanoseconds(1)))  // Bounded: floating-point numbers.
    }

    /// Webhooks that were given up because another one to the same address was not wanted.
    func count(givenUp count: Int) {
        givenUp.increment(by: Int64(count))  // Bounded: counts of what is in memory.
    }
}
