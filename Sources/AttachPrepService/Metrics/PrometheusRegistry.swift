public import Metrics
public import RichPush
internal import Synchronization

/// Where everything is counted, and what Prometheus reads of it.
///
/// ```swift
/// let registry = PrometheusRegistry(descriptions: ["attachprep_jobs": MetricDescription("Jobs there are, by state.")])
/// let counter = Counter(label: "attachprep_jobs", factory: registry)
/// let page = registry.exposition()
/// ```
///
/// Counters are counters, meters and gauges are gauges, timers and recorders are histograms, timers in seconds. Equal
/// names with equal labels are one series, whoever asks for it; the first one asked for decides a name's kind. There is
/// no more than a number of series: what comes on top is counted by nobody, but that there was one is.
public final class PrometheusRegistry: MetricsFactory {
    private struct State {
        var families: [String: [PrometheusKey: PrometheusSeries]] = [:]
        var count = 0
        var refused = 0
    }

    /// The value of the header `Content-Type` that goes with `exposition`.
    public static let contentType = PrometheusExposition.contentType
    /// Series that were asked for and are not there: over the limit, or of another kind than their name's.
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

    /// The page, by name and labels, in the same order each time.
    public func exposition() -> String {
        let (families, refused) = state.withLock { state in
            (state.families.mapValues { Array($0.values) }, state.refused)
        }
        var exposition = PrometheusExposition()
        for (name, series) in families.sorted(by: { $0.key < $1.key }) {
            exposition.add(series, help: descriptions[name]?.help)
        }
        let own = PrometheusSeries(PrometheusKey(Self.refusedLabel, .counter, []), buckets: nil)
        own.set(Double(refused))
        exposition.add([own], help: "Series that were not kept: there are too many, or their name is of another kind.")
        return exposition.text
    }

    // MARK: What swift-metrics asks for

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
            // A series of that name may have been made anew since.
            guard state.families[series.key.name]?[series.key] === series else { return }
            state.families[series.key.name]?[series.key] = nil
            state.count -= 1
            if state.families[series.key.name]?.isEmpty == true { state.families[series.key.name] = nil }
        }
    }
}
