import AttachPrep
import FoundationEssentials
import Glibc
package import Logging
import MediaTypes
import OTLP
package import Tracing

/// The traces of a process: a tracer, and the exporter of its spans.
package struct ProcessTracing: Sendable {
    package let tracer: any Tracer
    private let exporter: SpanExporter

    /// - Parameter metrics: nil for commands, which export none.
    /// - Throws: `internal` when libcurl does not start.
    init(_ configuration: TracingConfiguration, metrics: SpanMetrics?, logger: Logger) throws {
        exporter = try SpanExporter(configuration, metrics: metrics, logger: logger)
        tracer = OTLPTracer(sampler: configuration.sampler, exporter: exporter)
    }

    /// The traces of a command; nil when the environment configures none.
    package init?(environment: [String: String], logger: Logger) throws {
        let configuration = TracingConfiguration(environment: environment, program: TracedProgram.attributes)
        guard let configuration else { return nil }
        try self.init(configuration, metrics: nil, logger: logger)
    }

    /// Sends the remaining spans, for a limited time.
    package func shutdown() async {
        await exporter.shutdown(within: .seconds(Limits.spanFlushSeconds))
    }
}
