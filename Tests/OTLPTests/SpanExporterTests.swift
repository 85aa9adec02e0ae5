import AttachPrepService
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import OTLP

/// The exporter with a collector on loopback that answers as each test needs it.
@Suite(.timeLimit(.minutes(1))) struct SpanExporterTests {
    let registry = PrometheusRegistry()
    let lines = CollectedLines()

    private func tracer(
        _ collector: TraceCollector, _ change: (inout TracingConfiguration) -> Void = { _ in }
    ) throws -> (OTLPTracer, SpanExporter) {
        var configuration = TracingConfiguration(endpoint: collector.endpoint + "/v1/traces")
        configuration.batch.delay = .seconds(600)
        configuration.resource = [("service.name", "test")]
        change(&configuration)
        let exporter = try SpanExporter(
            configuration, metrics: SpanMetrics(factory: registry), logger: lines.logger, backOffSeconds: 0.01)
        return (OTLPTracer(sampler: .standard, exporter: exporter), exporter)
    }

    private func count(_ outcome: String) -> Int {
        let line = registry.exposition().split(separator: "\n").first {
            $0.hasPrefix("attachprep_trace_spans_total{outcome=\"\(outcome)\"}")
        }
        return line.flatMap { $0.split(separator: " ").last.flatMap { Double($0) } }.map { Int($0) } ?? 0
    }

    private func add(_ number: Int, to tracer: OTLPTracer) {
        for index in 0..<number { tracer.startSpan("span \(index)", context: .topLevel).end() }
    }

    @Test func `A batch is sent as soon as it is full`() async throws {
        let collector = try TraceCollector()
        let (tracer, exporter) = try tracer(collector) { $0.batch.batchMax = 4 }
        add(4, to: tracer)
        await collector.server.until { $0.requests.count == 1 }
        #expect(try collector.spans().map(\.name) == (0..<4).map { "span \($0)" })
        await exporter.shutdown(within: .seconds(5))
        #expect(count("exported") == 4)
    }

    @Test func `A batch that is not full is sent after the delay`() async throws {
        let collector = try TraceCollector()
        let (tracer, exporter) = try tracer(collector) { $0.batch.delay = .milliseconds(20) }
        add(1, to: tracer)
        await collector.server.until { $0.requests.count == 1 }
        await exporter.shutdown(within: .seconds(5))
    }

    @Test func `Spans that do not fill a batch are not sent behind a full one`() async throws {
        let collector = try TraceCollector()
        let (tracer, exporter) = try tracer(collector) { $0.batch.batchMax = 2 }
        add(3, to: tracer)
        try await waitUntil("the full batch is sent") { count("exported") == 2 }
        add(1, to: tracer)
        await exporter.shutdown(within: .seconds(5))
        #expect(collector.bodies.count == 2 && count("exported") == 4)
    }

    @Test func `Spans that wait at the end are sent by the shutdown, and later ones are dropped`() async throws {
        let collector = try TraceCollector()
        let (tracer, exporter) = try tracer(collector) { $0.batch.batchMax = 400 }
        add(1_000, to: tracer)
        await exporter.shutdown(within: .seconds(20))
        add(1, to: tracer)
        #expect(try collector.spans().count == 1_000)
        #expect(collector.bodies.count == 3)
        #expect(count("exported") == 1_000 && count("dropped") == 1)
    }

    @Test func `A collector that does not answer delays nothing: spans over the queue are dropped and counted`()
        async throws
    {
        let collector = try TraceCollector(LoopbackResponse([.hang]))
        let (tracer, exporter) = try tracer(collector) { ($0.batch.batchMax, $0.batch.queueMax) = (10, 50) }
        add(10, to: tracer)
        await collector.server.until { $0.requests.count == 1 }
        let start = ContinuousClock.now
        add(1_000, to: tracer)
        #expect(start.duration(to: .now) < .seconds(2))
        #expect(count("dropped") == 950)
        await exporter.shutdown(within: .milliseconds(50))
        #expect(start.duration(to: .now) < .seconds(10))
        #expect(count("failed") == 10 && count("dropped") == 1_000)
    }

    @Test(arguments: [429, 502, 503, 504])
    func `A request is repeated after a temporary status`(status: Int) async throws {
        let collector = try TraceCollector(.status(status), .status(status), .status(200))
        let (tracer, exporter) = try tracer(collector)
        add(1, to: tracer)
        await exporter.shutdown(within: .seconds(5))
        #expect(Set(collector.bodies).count == 1 && collector.bodies.count == 3)
        #expect(count("exported") == 1 && count("failed") == 0)
    }

    @Test func `A Retry-After is followed`() async throws {
        let collector = try TraceCollector(.status(503, ["Retry-After": "1"]), .status(200))
        let (tracer, exporter) = try tracer(collector)
        let start = ContinuousClock.now
        add(1, to: tracer)
        await exporter.shutdown(within: .seconds(10))
        #expect(start.duration(to: .now) >= .seconds(1) && count("exported") == 1)
    }

    @Test(arguments: [400, 401, 404, 413, 500, 301])
    func `Any other status loses the batch, and is logged once until spans are accepted again`(status: Int) async throws
    {
        let collector = try TraceCollector(.status(status), .status(status), .status(200))
        let (tracer, exporter) = try tracer(collector) { $0.batch.batchMax = 1 }
        for number in 1...3 {
            add(1, to: tracer)
            await collector.server.until { $0.requests.count == number }
        }
        await exporter.shutdown(within: .seconds(5))
        #expect(count("exported") == 1 && count("failed") == 2)
        #expect(lines.all == ["traces cannot be sent", "traces are sent again"])
    }

    @Test func `A collector that is down costs five attempts, then the batch is lost`() async throws {
        let collector = try TraceCollector()
        let (tracer, exporter) = try tracer(collector)
        collector.server.stop()
        add(3, to: tracer)
        await exporter.shutdown(within: .seconds(20))
        #expect(count("failed") == 3 && lines.all == ["traces cannot be sent"])
    }

    @Test(arguments: [#"{"partialSuccess":{"rejectedSpans":"2"}}"#, #"{"partialSuccess":{"rejectedSpans":2}}"#])
    func `Spans that the collector rejected are counted as failed`(answer: String) async throws {
        let collector = try TraceCollector(.body(Data(answer.utf8), type: "application/json"))
        let (tracer, exporter) = try tracer(collector)
        add(5, to: tracer)
        await exporter.shutdown(within: .seconds(5))
        #expect(count("exported") == 3 && count("failed") == 2)
    }

    @Test func `Requests have the configured headers and the type of JSON`() async throws {
        let collector = try TraceCollector()
        let (tracer, exporter) = try tracer(collector) { $0.headers = [("api-key", "s3cret")] }
        add(1, to: tracer)
        await exporter.shutdown(within: .seconds(5))
        let request = try #require(collector.server.requests.first)
        #expect(request.method == "POST" && request.headers["content-type"] == "application/json")
        #expect(
            request.headers["api-key"] == "s3cret" && !String(decoding: request.body, as: UTF8.self).contains("s3cret"))
    }

    @Test func `Spans that are not sampled are not sent, but have a context`() async throws {
        let collector = try TraceCollector()
        let (_, exporter) = try tracer(collector)
        let sampler = try #require(TraceSampler(name: "always_off", argument: nil))
        let tracer = OTLPTracer(sampler: sampler, exporter: exporter)
        let span = tracer.startSpan("a", context: .topLevel)
        span.end()
        await exporter.shutdown(within: .seconds(5))
        #expect(collector.bodies.isEmpty && span.context.trace?.parent.hasSuffix("-00") == true && !span.isRecording)
    }

    @Test func `A span that ends twice is sent once, and errors show their type but no message`() async throws {
        struct LeakyError: Error, CustomStringConvertible {
            let description = "token=s3cret"
        }
        let collector = try TraceCollector()
        let (tracer, exporter) = try tracer(collector)
        let span = tracer.startSpan("a", context: .topLevel)
        span.recordError(LeakyError())
        span.setStatus(SpanStatus(code: .error, message: "token=s3cret"))
        span.end()
        span.end()
        await exporter.shutdown(within: .seconds(5))
        let received = try collector.spans()
        #expect(received.count == 1 && received[0].hasFailed)
        #expect(received[0].attributes["error.type"] == "LeakyError")
        #expect(!String(decoding: collector.bodies[0], as: UTF8.self).contains("s3cret"))
    }
}

/// The messages of a log.
final class CollectedLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

    private struct Handler: LogHandler {
        let lines: CollectedLines
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.lines.withLock { $0.append("\(event.message)") } }
    }
}
