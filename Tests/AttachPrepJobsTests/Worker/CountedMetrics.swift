import Metrics
import Synchronization

/// Keeps what is counted and measured, by name and labels: `jobs_ended_total{state=failed,code=internal}`.
final class CountedMetrics: MetricsFactory {
    private let numbers = Mutex<[String: Double]>([:])

    func value(_ name: String) -> Double? { numbers.withLock { $0["attachprep_\(name)"] } }

    private func change(_ name: String, _ change: (inout Double) -> Void) {
        numbers.withLock { change(&$0[name, default: 0]) }
    }

    private final class Handler: CounterHandler, RecorderHandler, TimerHandler {
        let name: String
        let metrics: CountedMetrics

        init(_ label: String, _ dimensions: [(String, String)], _ metrics: CountedMetrics) {
            let labels = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
            name = labels.isEmpty ? label : "\(label){\(labels)}"
            self.metrics = metrics
        }

        func increment(by amount: Int64) { metrics.change(name) { $0 += Double(amount) } }
        func reset() {}
        func record(_ value: Int64) { record(Double(value)) }
        func record(_ value: Double) { metrics.change(name) { $0 = value } }
        func recordNanoseconds(_ duration: Int64) { metrics.change(name) { $0 += 1 } }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        Handler(label, dimensions, self)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handler(label, dimensions, self)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handler(label, dimensions, self)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
