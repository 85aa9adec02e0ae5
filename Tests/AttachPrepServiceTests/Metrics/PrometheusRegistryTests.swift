import Foundation
import Metrics
import TestSupport
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepService

@Suite struct PrometheusRegistryTests {
    private let registry = PrometheusRegistry(descriptions: [
        "a_total": MetricDescription("What\nis \\ \"counted\"."),
        "sizes": MetricDescription("Bytes.", buckets: [10, 100]),
    ])

    private var page: PrometheusPage { get throws { try PrometheusPage(registry.exposition()) } }

    // Issue 19, item 11.
    @Test func `Metric names are unique without OpenMetrics' suffixes`() {
        let suffixes = ["_total", "_created", "_count", "_sum", "_bucket", "_info"]
        let families = MetricDescription.service.keys.map { name in
            suffixes.first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
        }
        #expect(Set(families).count == families.count)
    }

    @Test func `Counters count integers and fractions`() throws {
        let counter = Counter(label: "a_total", dimensions: [("state", "queued")], factory: registry)
        counter.increment()
        counter.increment(by: 41)
        FloatingPointCounter(label: "b_total", factory: registry).increment(by: 0.5)
        #expect(try page.value("a_total", ["state": "queued"]) == 42)
        #expect(try page.value("b_total") == 0.5)
        #expect(try page.types["a_total"] == "counter")
    }

    @Test func `A counter never decreases`() throws {
        let counter = Counter(label: "a_total", factory: registry)
        counter.increment(by: 5)
        counter.increment(by: -3)
        #expect(try page.value("a_total") == 5)
    }

    @Test func `Gauges and meters show the last value, and meters can be changed`() throws {
        Gauge(label: "g", factory: registry).record(3)
        Gauge(label: "g", factory: registry).record(-1.25)
        let meter = Meter(label: "m", factory: registry)
        meter.set(10)
        meter.increment(by: 2.5)
        meter.decrement(by: 5)
        #expect(try page.value("g") == -1.25)
        #expect(try page.value("m") == 7.5)
        #expect(try page.types["g"] == "gauge" && page.types["m"] == "gauge")
    }

    @Test func `A timer is a histogram of seconds`() throws {
        let timer = Timer(label: "t_seconds", dimensions: [("stage", "render")], factory: registry)
        for milliseconds in [1, 3, 400, 400_000] { timer.recordMilliseconds(milliseconds) }
        let page = try page
        func bucket(_ bound: String) -> Double? {
            page.value("t_seconds_bucket", ["stage": "render", "le": bound])
        }
        #expect(page.types["t_seconds"] == "histogram")
        #expect(bucket("0.001") == 1 && bucket("0.0025") == 1 && bucket("0.005") == 2)
        #expect(bucket("0.5") == 3 && bucket("300") == 3 && bucket("+Inf") == 4)
        #expect(page.value("t_seconds_count", ["stage": "render"]) == 4)
        #expect(page.value("t_seconds_sum", ["stage": "render"]) == 400.404)
    }

    @Test func `A recorder has the described buckets with inclusive bounds`() throws {
        let recorder = Recorder(label: "sizes", factory: registry)
        for value in [10, 11, 100, 101] { recorder.record(value) }
        #expect(try page.value("sizes_bucket", ["le": "10"]) == 1)
        #expect(try page.value("sizes_bucket", ["le": "100"]) == 3)
        #expect(try page.value("sizes_bucket", ["le": "+Inf"]) == 4)
        #expect(try page.value("sizes_sum") == 222)
    }

    @Test func `NaN and infinity are ignored`() throws {
        let recorder = Recorder(label: "sizes", factory: registry)
        recorder.record(Double.nan)
        recorder.record(Double.infinity)
        recorder.record(1)
        #expect(try page.value("sizes_sum") == 1)
        #expect(try page.value("sizes_count") == 1)
    }

    @Test func `Equal names and labels are one series, whatever the order of labels`() throws {
        Counter(label: "a_total", dimensions: [("x", "1"), ("y", "2")], factory: registry).increment()
        Counter(label: "a_total", dimensions: [("y", "2"), ("x", "1")], factory: registry).increment()
        #expect(try page.value("a_total", ["x": "1", "y": "2"]) == 2)
    }

    @Test func `Invalid characters in names, labels and texts are escaped`() throws {
        let value = "a\"b\\c\nd\te ü \u{2028}"
        Counter(
            label: "a_total", dimensions: [("code", value), ("the-host", "h"), ("the.host", "i")], factory: registry
        )
        .increment()
        Counter(label: "9.lives", factory: registry).increment()
        let page = try page
        #expect(page.value("a_total", ["code": value, "the_host": "h"]) == 1)
        #expect(page.value("_9_lives") == 1)
        #expect(page.help["a_total"] == #"What\nis \\ "counted"."#)
    }

    @Test func `Names and labels are sorted`() throws {
        for name in ["c_total", "a_total", "b_total"] {
            for state in ["z", "m", "a"] {
                Counter(label: name, dimensions: [("s", state)], factory: registry).increment()
            }
        }
        let names = try page.samples.filter { $0.name.hasSuffix("_total") && $0.labels["s"] != nil }
            .map { "\($0.name) \($0.labels["s", default: ""])" }
        #expect(names == names.sorted() && names.count == 9)
        #expect(registry.exposition() == registry.exposition())
    }

    @Test func `The number of series is limited, and rejected ones are counted`() throws {
        let registry = PrometheusRegistry(seriesMax: 3)
        let counters = (0..<5).map { Counter(label: "a_total", dimensions: [("n", "\($0)")], factory: registry) }
        counters.forEach { $0.increment() }
        let page = try PrometheusPage(registry.exposition())
        #expect(page.samples.count { $0.name == "a_total" } == 3)
        #expect(page.value(PrometheusRegistry.refusedLabel) == 2)
        counters[0].destroy()
        Counter(label: "a_total", dimensions: [("n", "new")], factory: registry).increment()
        #expect(try PrometheusPage(registry.exposition()).value("a_total", ["n": "new"]) == 1)
    }

    @Test func `A name with another type is rejected`() throws {
        Counter(label: "a_total", factory: registry).increment()
        Gauge(label: "a_total", dimensions: [("x", "1")], factory: registry).record(9)
        #expect(try page.value("a_total", ["x": "1"]) == nil)
        #expect(try page.value(PrometheusRegistry.refusedLabel) == 1)
    }

    @Test func `A destroyed metric is removed, and a new one starts at zero`() throws {
        let counter = Counter(label: "a_total", factory: registry)
        counter.increment(by: 7)
        counter.destroy()
        #expect(try page.value("a_total") == nil)
        #expect(try page.types["a_total"] == nil)
        Counter(label: "a_total", factory: registry).increment()
        counter.destroy()
        #expect(try page.value("a_total") == 1)
    }

    @Test func `Concurrent updates are not lost`() async throws {
        let registry = registry
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        Counter(label: "a_total", factory: registry).increment()
                        Timer(label: "t_seconds", factory: registry).recordNanoseconds(1_000_000_000)
                    }
                }
            }
        }
        #expect(try page.value("a_total") == 8_000)
        #expect(try page.value("t_seconds_sum") == 8_000)
    }

    @Test func `Webhook metrics are exported by their names`() throws {
        let metrics = WebhookMetrics(factory: registry)
        metrics.count(.delivered(status: 200), took: .milliseconds(30))
        metrics.count(.givenUp(status: 410, error: ""), took: .milliseconds(30))
        metrics.count(givenUp: 3)
        #expect(try page.value(WebhookMetrics.triesLabel, ["outcome": "delivered"]) == 1)
        #expect(try page.value(WebhookMetrics.triesLabel, ["outcome": "retried"]) == 0)
        #expect(try page.value(WebhookMetrics.triesLabel, ["outcome": "given_up"]) == 4)
        #expect(try page.value("\(WebhookMetrics.secondsLabel)_count") == 2)
    }
}

/// A strict parser of Prometheus' text format 0.0.4, written from the format's specification.
struct PrometheusPage {
    struct Sample: Hashable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct FormatError: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var samples: [Sample] = []
    private(set) var types: [String: String] = [:]
    private(set) var help: [String: String] = [:]

    init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw FormatError(description: "the last line has no line feed") }
        for line in text.unicodeScalars.split(separator: "\n") { try read(String(line)) }
        guard Set(samples.map { "\($0.name)\($0.labels.sorted { $0.key < $1.key })" }).count == samples.count else {
            throw FormatError(description: "duplicate series")
        }
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func read(_ line: String) throws {
        let fields = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        if fields.count >= 3, fields[0] == "#", fields[1] == "HELP" {
            help[fields[2]] = fields.count > 3 ? fields[3] : ""
        } else if fields.count == 4, fields[0] == "#", fields[1] == "TYPE" {
            guard types.updateValue(fields[3], forKey: fields[2]) == nil else {
                throw FormatError(description: "duplicate TYPE: \(line)")
            }
            guard !samples.contains(where: { $0.name == fields[2] }) else {
                throw FormatError(description: "TYPE after samples: \(line)")
            }
        } else {
            samples.append(try sample(line))
        }
    }

    private func sample(_ line: String) throws -> Sample {
        var rest = Substring(line)
        let name = String(rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") })
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest.removeFirst()
            while rest.first != "}" {
                let label = String(rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
                rest = rest.dropFirst(label.count)
                guard !label.isEmpty, rest.hasPrefix("=\"") else { throw FormatError(description: line) }
                rest = rest.dropFirst(2)
                guard labels.updateValue(try value(&rest, line), forKey: label) == nil else {
                    throw FormatError(description: "duplicate label: \(line)")
                }
                if rest.first == "," { rest.removeFirst() }
            }
            rest.removeFirst()
        }
        guard !name.isEmpty, rest.first == " ", let number = Self.number(rest.dropFirst()) else {
            throw FormatError(description: line)
        }
        return Sample(name: name, labels: labels, value: number)
    }

    /// Reads a label value and its closing quote.
    private func value(_ rest: inout Substring, _ line: String) throws -> String {
        var value = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return value
            case "\\":
                switch rest.popFirst() {
                case "\\": value += "\\"
                case "n": value += "\n"
                case "\"": value += "\""
                default: throw FormatError(description: line)
                }
            default: value.append(character)
            }
        }
        throw FormatError(description: "unterminated value: \(line)")
    }

    private static func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: Double(text)
        }
    }
}
