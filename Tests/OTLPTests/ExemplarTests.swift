import Foundation
import Metrics
import OTLP
import TestSupport
import Testing
import Tracing

@testable import AttachPrepService

@Suite struct ExemplarTests {
    private let registry = PrometheusRegistry()

    private func record(_ seconds: Double, traced: Bool) {
        var context = ServiceContext.topLevel
        context.trace = TraceContext(
            traceID: TraceContext.TraceID(high: 1, low: 2), spanID: 3, isSampled: traced, isRemote: false)
        ServiceContext.withValue(context) {
            let labels = [("stage", "render")]
            Timer(label: "attachprep_stage_seconds", dimensions: labels, factory: registry).recordSeconds(seconds)
        }
    }

    @Test func `A bucket has the latest traced value as exemplar, in OpenMetrics only`() {
        record(0.3, traced: true)
        record(0.4, traced: true)
        record(1_000, traced: true)
        record(20, traced: false)
        let page = registry.exposition(.openMetrics)
        let lines = page.split(separator: "\n").filter { $0.contains(" # {") }
        #expect(lines.count == 2 && lines[0].contains(#"le="0.5"} 2 # {trace_id="00000000000000010000000000000002""#))
        #expect(lines[0].contains(#",span_id="0000000000000003"} 0.4 "#))
        #expect(lines[1].contains(#"le="+Inf"} 4 # {"#) && page.hasSuffix("# EOF\n"))
        #expect(!registry.exposition().contains(" # ") && !registry.exposition().contains("EOF"))
    }

    @Test func `Counters have the name of OpenMetrics`() {
        Counter(label: "attachprep_job_attempts_total", factory: registry).increment()
        let page = registry.exposition(.openMetrics)
        #expect(page.contains("# TYPE attachprep_job_attempts counter\nattachprep_job_attempts_total 1\n"))
    }

    @Test(arguments: [
        ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1", true),
        ("application/openmetrics-text", true), ("*/*", false), ("text/plain", false), ("", false),
        ("text/plain;q=0.9,application/openmetrics-text;q=0.5", false), ("application/openmetrics-text;q=0", false),
    ])
    func `OpenMetrics is written for scrapers that prefer it`(accept: String, isOpenMetrics: Bool) {
        let format = ExpositionFormat(accept: accept.isEmpty ? [] : [accept])
        #expect((format == .openMetrics) == isOpenMetrics)
    }

    @Test(.timeLimit(.minutes(2))) func `Prometheus' own parser of OpenMetrics reads the page and its exemplars`()
        async throws
    {
        for name in ["attachprep_job_retries_total", "attachprep_job_attempts_total"] {
            Counter(label: name, dimensions: [("code", "a\"b\\c\n")], factory: registry).increment()
        }
        Gauge(label: "attachprep_jobs_due", factory: registry).record(0.25)
        record(0.3, traced: true)
        let tools = SourceTree.root.appendingPathComponent("tools/telemetry-validator")
        let install = try await RunCommand(tools.appendingPathComponent("install").path, timeoutSeconds: 100).run()
        let python = try #require(install.lines.last, "make deps-test installs the parser: \(install.errorText)")
        let page = registry.exposition(.openMetrics)
        let run = try await RunCommand(
            python, [tools.appendingPathComponent("openmetrics.py").path], input: Array(page.utf8)
        ).run()
        #expect(run.exitCode == 0, "\(run.errorText)\n\(page)")
        let labels = "span_id=0000000000000003 trace_id=00000000000000010000000000000002"
        #expect(run.lines == ["attachprep_stage_seconds_bucket 0.5 \(labels) 0.3"])
    }
}
