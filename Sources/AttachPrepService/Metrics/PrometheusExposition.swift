/// The page that Prometheus reads: its text format 0.0.4.
///
/// <https://prometheus.io/docs/instrumenting/exposition_formats/>
struct PrometheusExposition {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// All series of one metric, which stand together, in the order of their labels.
    mutating func add(_ series: [PrometheusSeries], help: String?) {
        guard let first = series.first else { return }
        let name = first.key.name
        if let help { text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n" }
        text += "# TYPE \(name) \(first.key.kind.rawValue)\n"
        for (labels, value) in series.map({ (Self.labels($0.key.labels), $0.value) }).sorted(by: { $0.0 < $1.0 }) {
            switch value {
            case .number(let number): line(name, labels, Self.number(number))
            case .histogram(let histogram): add(histogram, name, labels)
            }
        }
    }

    private mutating func add(_ histogram: PrometheusHistogram, _ name: String, _ labels: String) {
        let separator = labels.isEmpty ? "" : ","
        for (bound, count) in zip(histogram.bounds, histogram.cumulative) {
            line("\(name)_bucket", "\(labels)\(separator)le=\"\(Self.number(bound))\"", String(count))
        }
        line("\(name)_bucket", "\(labels)\(separator)le=\"+Inf\"", String(histogram.count))
        line("\(name)_sum", labels, Self.number(histogram.sum))
        line("\(name)_count", labels, String(histogram.count))
    }

    private mutating func line(_ name: String, _ labels: String, _ value: String) {
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

    /// Whole numbers without a fraction; the rest as Swift writes them, which reads back as the same number.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
