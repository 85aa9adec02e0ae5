public import MediaTypes
public import Metrics
import SafeArithmetic
import Synchronization

/// A metrics backend for swift-metrics that exports the Prometheus text format.
///
/// ```swift
/// let registry = PrometheusRegistry(descriptions: ["attachprep_jobs": MetricDescription("Jobs there are, by state.")])
/// let counter = Counter(label: "attachprep_jobs", factory: registry)
/// let page = registry.exposition()
/// ```
///
/// Counters become counters, meters and gauges become gauges, recorders and timers (in seconds) become histograms.
/// Equal names with equal labels are one series; the first use of a name determines its kind. At most `seriesMax`
/// series are kept; further ones are not exported, but counted in `refusedLabel`.
public final class PrometheusRegistry: MetricsFactory {
    private struct State {
        var families: [String: [PrometheusKey: PrometheusSeries]] = [:]
        var count = 0
        var refused = 0
    }

    /// The `Content-Type` of `exposition`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    /// The counter of series that are not exported: over the limit, or of another kind than their name's.
    public static let refusedLabel = "attachprep_metric_series_refused_total"

    private let descriptions: [String: MetricDescription]
    private let seriesMax: Int
    private let state = Mutex(State())

    public init(
        descriptions: [String: MetricDescription] = MetricDescription.service, seriesMax: Int = Limits.metricSeriesMax
    ) {
        self.descriptions = descriptions
        self.seriesMax = seriesMax
    }

    /// All series in Prometheus text format, sorted by name and labels.
    public func exposition() -> String { exposition(.text) }

    func exposition(_ format: ExpositionFormat) -> String {
        let (families, refused) = state.withLock { state in
            (state.families.mapValues { Array($0.values) }, state.refused)
        }
        var exposition = PrometheusExposition(format)
        for (name, series) in families.sorted(by: { $0.key < $1.key }) {
            exposition.add(series, help: descriptions[name]?.help)
        }
        let own = PrometheusSeries(PrometheusKey(Self.refusedLabel, .counter, []), buckets: nil)
        own.set(Double(refused))
        exposition.add([own], help: "Series not exported: over the limit, or of another kind than their name's.")
        exposition.end()
        return exposition.text
    }

    // MARK: Values that are kept elsewhere

    /// Raises a counter to a total that is kept elsewhere, such as by the kernel; a lower total, which a concurrent
    /// reading may bring, is ignored.
    func raise(_ name: String, to total: Double) {
        series(PrometheusKey(name, .counter, [])).raise(to: total)
    }

    /// Sets a gauge.
    func set(_ name: String, to value: Double, labels: (String, String)...) {
        series(PrometheusKey(name, .gauge, labels)).set(value)
    }

    // MARK: MetricsFactory

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(PrometheusKey(label, .counter, dimensions))
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(PrometheusKey(label, .counter, dimensions))
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(PrometheusKey(label, .gauge, dimensions))
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        series(PrometheusKey(label, aggregate ? .histogram : .gauge, dimensions))
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(PrometheusKey(label, .histogram, dimensions))
    }

    public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }
    public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }

    private func series(_ key: PrometheusKey) -> PrometheusSeries {
        state.withLock { state in
            if let known = state.families[key.name]?[key] { return known }
            let buckets = descriptions[key.name]?.buckets ?? MetricDescription.secondsBuckets
            let series = PrometheusSeries(key, buckets: key.kind == .histogram ? buckets : nil)
            let kind = state.families[key.name]?.keys.first?.kind ?? key.kind
            guard state.count < seriesMax, kind == key.kind else {
                state.refused += 1
                return series
            }
            state.families[key.name, default: [:]][key] = series
            state.count += 1
            return series
        }
    }

    private func destroy(_ handler: any Sendable) {
        guard let series = handler as? PrometheusSeries else { return }
        state.withLock { state in
            // A new series with this key may have been created since.
            guard state.families[series.key.name]?[series.key] === series else { return }
            state.families[series.key.name]?[series.key] = nil
            state.count -= 1
            if state.families[series.key.name]?.isEmpty == true { state.families[series.key.name] = nil }
        }
    }
}

/// A metric with one set of labels. Implements all handler protocols of swift-metrics; the first one used determines
/// its kind.
final class PrometheusSeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    enum Value: Sendable, Hashable {
        case number(Double)
        case histogram(PrometheusHistogram)
    }

    let key: PrometheusKey
    private let state: Mutex<Value>

    /// - Parameter buckets: bucket bounds of a histogram; nil for a counter or gauge.
    init(_ key: PrometheusKey, buckets: [Double]?) {
        self.key = key
        state = Mutex(buckets.map { .histogram(PrometheusHistogram($0)) } ?? .number(0))
    }

    var value: Value { state.withLock { $0 } }

    func increment(by amount: Int64) { increment(by: Double(amount)) }

    /// Ignores negative amounts for counters: Prometheus would interpret a decrease as a restart.
    func increment(by amount: Double) {
        guard key.kind != .counter || amount >= 0 else { return }
        change { $0 += amount }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { change { $0 = value } }

    func raise(to total: Double) { change { $0 = max($0, total) } }

    func reset() { change { $0 = 0 } }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let exemplar = key.kind == .histogram ? PrometheusExemplar.current(value) : nil
        state.withLock { state in
            switch state {
            case .number: state = .number(value)
            case .histogram(var histogram):
                // Releases the stored reference, so that the histogram's arrays are mutated in place, not copied.
                state = .number(0)
                histogram.record(value, exemplar)
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

/// The name, kind and labels of a series.
struct PrometheusKey: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable {
        case counter
        case gauge
        case histogram
    }

    let name: String
    let kind: Kind
    /// Sorted by name.
    let labels: [Label]

    struct Label: Sendable, Hashable, Comparable {
        let name: String
        let value: String

        static func < (left: Label, right: Label) -> Bool { left.name < right.name }
    }

    init(_ name: String, _ kind: Kind, _ dimensions: [(String, String)]) {
        self.name = Self.clean(name)
        self.kind = kind
        // Prometheus rejects the whole page if a label name is repeated.
        var known: Set<String> = []
        labels = dimensions.map { Label(name: Self.clean($0.0), value: $0.1) }
            .filter { known.insert($0.name).inserted }.sorted()
    }

    /// Replaces characters outside `[a-zA-Z_][a-zA-Z0-9_]*` with underscores, as Prometheus' own libraries do.
    private static func clean(_ name: String) -> String {
        // Nearly all names are clean, and a series is looked up by its name for each value.
        if let first = name.utf8.first, !isDigit(first), name.utf8.allSatisfy(isAllowed) { return name }
        let text = String(name.map { $0.utf8.count == 1 && $0.utf8.allSatisfy(isAllowed) ? $0 : "_" })
        return text.utf8.first.map(isDigit) ?? true ? "_\(text)" : text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
        default: isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}

/// A histogram: counts per bucket, total count and sum.
struct PrometheusHistogram: Sendable, Hashable {
    /// Upper bounds, ascending; values above the last one count only in `count`.
    let bounds: [Double]
    /// Values per bucket, not cumulative.
    private var counts: [Int]
    private(set) var count = 0
    private(set) var sum = 0.0
    /// The latest of each bucket, and of the values above the last bound; empty until there is one.
    private var exemplars: [PrometheusExemplar?] = []

    init(_ bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count)
    }

    /// Records a value; NaN and infinity are ignored, since they would invalidate the sum permanently.
    mutating func record(_ value: Double, _ exemplar: PrometheusExemplar? = nil) {
        guard value.isFinite else { return }
        count += 1
        sum += value
        let index = bounds.firstIndex { value <= $0 }
        if let index { counts[index] += 1 }
        guard let exemplar else { return }
        if exemplars.isEmpty { exemplars = Array(repeating: nil, count: bounds.count + 1) }
        exemplars[index ?? bounds.count] = exemplar
    }

    /// The latest exemplar of a bucket; the last index is that of the values above all bounds.
    func exemplar(of index: Int) -> PrometheusExemplar? {
        exemplars.indices.contains(index) ? exemplars[index] : nil
    }

    /// Cumulative counts up to each bound, as in the text format.
    var cumulative: [Int] {
        var total = 0
        return counts.map { count in
            total = total.adding(clamping: count)
            return total
        }
    }
}

extension Limits {
    /// Metric series: attachprep's own are some six hundred (routes by status code included), each with one to twenty
    /// lines per scrape.
    public static let metricSeriesMax = 2_000
}
