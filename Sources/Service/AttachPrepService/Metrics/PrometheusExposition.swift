import FoundationEssentials
import OTLP
import Tracing

/// The format of a metrics page.
enum ExpositionFormat: Sendable {
    /// The Prometheus text format 0.0.4.
    case text
    /// OpenMetrics 1.0, which has exemplars.
    case openMetrics

    /// - Parameter accept: the `Accept` fields of a request.
    init(accept fields: [String]) {
        let quality = { (type: String) in NegotiationMiddleware.quality(fields, of: type) ?? 0 }
        let openMetrics = quality("application/openmetrics-text")
        self = openMetrics > 0 && openMetrics >= quality("text/plain") ? .openMetrics : .text
    }

    var contentType: String {
        switch self {
        case .text: PrometheusRegistry.contentType
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}

/// A value of a histogram with the trace in which it was measured.
struct PrometheusExemplar: Sendable, Hashable {
    let value: Double
    let date: Date
    let traceID: String
    let spanID: String

    /// Nil outside of a trace, and for a trace that is not recorded.
    static func current(_ value: Double) -> PrometheusExemplar? {
        guard let trace = InstrumentationContext.current?.trace, trace.isSampled else { return nil }
        return PrometheusExemplar(
            value: value, date: .now, traceID: "\(trace.traceID)", spanID: trace.spanHexadecimal)
    }
}

/// A writer of the Prometheus text format and of OpenMetrics.
///
/// <https://prometheus.io/docs/instrumenting/exposition_formats/>,
/// <https://prometheus.io/docs/specs/om/open_metrics_spec/>
struct PrometheusExposition {
    private let format: ExpositionFormat
    private(set) var text = ""

    init(_ format: ExpositionFormat) {
        self.format = format
    }

    /// Completes the page.
    mutating func end() {
        if format == .openMetrics { text += "# EOF\n" }
    }

    /// Adds all series of one metric, sorted by labels; the format requires them to be adjacent.
    mutating func add(_ series: [PrometheusSeries], help: String?) {
        guard let first = series.first else { return }
        let name = first.key.name
        let family = family(first.key)
        if let help { text += "# HELP \(family.name) \(Self.escaped(help, quotes: format == .openMetrics))\n" }
        text += "# TYPE \(family.name) \(family.type)\n"
        for (labels, value) in series.map({ (Self.labels($0.key.labels), $0.value) }).sorted(by: { $0.0 < $1.0 }) {
            switch value {
            case .number(let number): line(name, labels: labels, value: Self.number(number))
            case .histogram(let histogram): add(histogram, name: name, labels: labels)
            }
        }
    }

    /// OpenMetrics names a counter without the suffix of its samples; it has no counters without that suffix.
    private func family(_ key: PrometheusKey) -> (name: String, type: String) {
        guard format == .openMetrics, key.kind == .counter else { return (key.name, key.kind.rawValue) }
        let suffix = "_total"
        return key.name.hasSuffix(suffix)
            ? (String(key.name.dropLast(suffix.count)), "counter") : (key.name, "unknown")
    }

    private mutating func add(_ histogram: PrometheusHistogram, name: String, labels: String) {
        let separator = labels.isEmpty ? "" : ","
        for (index, (bound, count)) in zip(histogram.bounds, histogram.cumulative).enumerated() {
            // OpenMetrics requires a fraction.
            let bound = format == .openMetrics ? "\(bound)" : Self.number(bound)
            line(
                "\(name)_bucket", labels: "\(labels)\(separator)le=\"\(bound)\"",
                value: String(count) + exemplar(histogram, index: index))
        }
        let last = exemplar(histogram, index: histogram.bounds.count)
        line("\(name)_bucket", labels: "\(labels)\(separator)le=\"+Inf\"", value: String(histogram.count) + last)
        line("\(name)_sum", labels: labels, value: Self.number(histogram.sum))
        line("\(name)_count", labels: labels, value: String(histogram.count))
    }

    /// The exemplar of a bucket, as the end of its line; empty without one.
    private func exemplar(_ histogram: PrometheusHistogram, index: Int) -> String {
        guard format == .openMetrics, let exemplar = histogram.exemplar(of: index) else { return "" }
        let labels = "trace_id=\"\(exemplar.traceID)\",span_id=\"\(exemplar.spanID)\""
        return " # {\(labels)} \(Self.number(exemplar.value)) \(exemplar.date.timeIntervalSince1970)"
    }

    private mutating func line(_ name: String, labels: String, value: String) {
        text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }

    private static func labels(_ labels: [PrometheusKey.Label]) -> String {
        labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",")
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Integers without a fraction; other numbers as Swift prints them, which round-trips.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
