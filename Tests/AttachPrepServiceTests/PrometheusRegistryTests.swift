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
    @Test func `No two metrics share a name once OpenMetrics' suffixes are taken off`() {
        let suffixes = ["_total", "_created", "_count", "_sum", "_bucket", "_info"]
        let families = MetricDescription.service.keys.map { name in
            suffixes.first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
        }
        #expect(Set(families).count == families.count)
    }

    @Test func `Counters count, whole numbers and parts`() throws {
        let counter = Counter(label: "a_total", dimensions: [("state", "queued")], factory: registry)
        counter.increment()
        counter.increment(by: 41)
        FloatingPointCounter(label: "b_total", factory: registry).increment(by: 0.5)
        #expect(try page.value("a_total", ["state": "queued"]) == 42)
        #expect(try page.value("b_total") == 0.5)
        #expect(try page.types["a_total"] == "counter")
    }

    @Test func `A counter never goes back`() throws {
        let counter = Counter(label: "a_total", factory: registry)
        counter.increment(by: 5)
        counter.increment(by: -3)
        #expect(try page.value("a_total") == 5)
    }

    @Test func `Gauges and meters show the last number, and meters go up and down`() throws {
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

    @Test func `A recorder has the buckets that were described for it, bounds included`() throws {
        let recorder = Recorder(label: "sizes", factory: registry)
        for value in [10, 11, 100, 101] { recorder.record(value) }
        #expect(try page.value("sizes_bucket", ["le": "10"]) == 1)
        #expect(try page.value("sizes_bucket", ["le": "100"]) == 3)
        #expect(try page.value("sizes_bucket", ["le": "+Inf"]) == 4)
        #expect(try page.value("sizes_sum") == 222)
    }

    @Test func `What is no number does not spoil a sum`() throws {
        let recorder = Recorder(label: "sizes", factory: registry)
        recorder.record(Double.nan)
        recorder.record(Double.infinity)
        recorder.record(1)
        #expect(try page.value("sizes_sum") == 1)
        #expect(try page.value("sizes_count") == 1)
    }

    @Test func `Equal names and labels are one series, in any order of the labels`() throws {
        Counter(label: "a_total", dimensions: [("x", "1"), ("y", "2")], factory: registry).increment()
        Counter(label: "a_total", dimensions: [("y", "2"), ("x", "1")], factory: registry).increment()
        #expect(try page.value("a_total", ["x": "1", "y": "2"]) == 2)
    }

    @Test func `Strange names, labels and texts come out as something that can be read`() throws {
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

    @Test func `The page has the same order each time, names and labels sorted`() throws {
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

    @Test func `There is an end to series, and it is told`() throws {
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

    @Test func `A name has one kind`() throws {
        Counter(label: "a_total", factory: registry).increment()
        Gauge(label: "a_total", dimensions: [("x", "1")], factory: registry).record(9)
        #expect(try page.value("a_total", ["x": "1"]) == nil)
        #expect(try page.value(PrometheusRegistry.refusedLabel) == 1)
    }

    @Test func `What is destroyed is gone, what is made anew begins at nothing`() throws {
        let counter = Counter(label: "a_total", factory: registry)
        counter.increment(by: 7)
        counter.destroy()
        #expect(try page.value("a_total") == nil)
        #expect(try page.types["a_total"] == nil)
        Counter(label: "a_total", factory: registry).increment()
        counter.destroy()
        #expect(try page.value("a_total") == 1)
    }

    @Test func `Many threads lose nothing`() async throws {
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

    @Test func `What webhooks count comes out under its names`() throws {
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
