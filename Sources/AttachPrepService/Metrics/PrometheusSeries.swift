internal import Metrics
internal import Synchronization

/// One row of numbers: a metric with one set of labels.
///
/// It plays all of swift-metrics' parts; which of them is asked for decides the metric's kind.
final class PrometheusSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    /// What has been counted, set or recorded so far.
    enum Value: Sendable, Hashable {
        case number(Double)
        case histogram(PrometheusHistogram)
    }

    let key: PrometheusKey
    private let state: Mutex<Value>

    /// - Parameter buckets: nil makes a single number.
    init(_ key: PrometheusKey, buckets: [Double]?) {
        self.key = key
        state = Mutex(buckets.map { .histogram(PrometheusHistogram($0)) } ?? .number(0))
    }

    var value: Value { state.withLock { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    /// A counter that is told to go back does not: whoever reads it would see a restart.
    func increment(by amount: Double) {
        guard key.kind != .counter || amount >= 0 else { return }
        // Bounded: floating point, which does not trap.
        change { $0 += amount }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { change { $0 = value } }

    func reset() { change { $0 = 0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        state.withLock { state in
            switch state {
            case .number: state = .number(value)
            case .histogram(var histogram):
                // Let go of, so that the numbers are changed where they are and not in a copy.
                state = .number(0)
                histogram.record(value)
                state = .histogram(histogram)
            }
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    private func change(_ body: (inout Double) -> Void) {
        state.withLock { state in
            guard case .number(var number) = state else { return }
            body(&number)
            state = .number(number)
        }
    }
}
