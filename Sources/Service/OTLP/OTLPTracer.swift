internal import AttachPrepModel
package import Logging
internal import Synchronization
package import Tracing

/// A tracer for swift-distributed-tracing that hands finished spans to an exporter.
package final class OTLPTracer: Tracer {
    private let sampler: TraceSampler
    private let exporter: SpanExporter

    package init(sampler: TraceSampler, exporter: SpanExporter) {
        (self.sampler, self.exporter) = (sampler, exporter)
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        var context = context()
        let parent = context.trace
        let traceID = parent?.traceID ?? .random()
        let trace = TraceContext(
            traceID: traceID, spanID: .random(in: 1 ... .max), isSampled: sampler.samples(traceID, parent: parent),
            state: parent?.state ?? "")
        context.trace = trace
        return OTLPSpan(
            operationName, kind, context, trace, parent: parent, startedAt: instant().nanosecondsSinceEpoch,
            exporter: trace.isSampled ? exporter : nil)
    }

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: TraceContext.parentHeader, from: carrier) else { return }
        let state = extractor.extract(key: TraceContext.stateHeader, from: carrier)
        if let trace = TraceContext(parent: parent, state: state) { context.trace = trace }
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.parent, forKey: TraceContext.parentHeader, into: &carrier)
        if !trace.state.isEmpty { injector.inject(trace.state, forKey: TraceContext.stateHeader, into: &carrier) }
    }

    /// Required by the protocol, which deprecates it; `SpanExporter.shutdown` sends what is left.
    package func forceFlush() {}

    /// Adds `trace_id` and `span_id` to log lines that are written within a span.
    package static let metadataProvider = Logger.MetadataProvider {
        guard let trace = ServiceContext.current?.trace else { return [:] }
        return ["trace_id": "\(trace.traceID)", "span_id": "\(trace.spanHexadecimal)"]
    }
}

/// A span that is handed to the exporter when it ends; one that is not sampled only has a context.
package final class OTLPSpan: Span {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var hasFailed = false
        var hasEnded = false
    }

    package let context: ServiceContext
    private let trace: TraceContext
    private let parent: TraceContext?
    private let kind: SpanKind
    private let startedAt: UInt64
    /// Nil for a span that is not recorded.
    private let exporter: SpanExporter?
    private let state: Mutex<State>

    fileprivate init(
        _ name: String, _ kind: SpanKind, _ context: ServiceContext, _ trace: TraceContext, parent: TraceContext?,
        startedAt: UInt64, exporter: SpanExporter?
    ) {
        (self.context, self.trace, self.parent) = (context, trace, parent)
        (self.kind, self.startedAt, self.exporter) = (kind, startedAt, exporter)
        state = Mutex(State(name: name))
    }

    package var isRecording: Bool { exporter != nil }

    package var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { if isRecording { state.withLock { $0.attributes = newValue } } }
    }

    /// Only whether the span failed is kept: messages may contain secrets.
    package func setStatus(_ status: SpanStatus) {
        state.withLock { $0.hasFailed = status.code == .error }
    }

    /// attachprep records no events.
    package func addEvent(_ event: SpanEvent) {}

    /// attachprep records no links.
    package func addLink(_ link: SpanLink) {}

    /// Records the error's code or type, without its message, which may contain secrets.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        let type = (error as? AttachPrepError)?.code.rawValue ?? "\(Swift.type(of: error))"
        state.withLock { $0.attributes["error.type"] = type }
    }

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let exporter else { return }
        let end = instant().nanosecondsSinceEpoch
        let finished = state.withLock { state -> FinishedSpan? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return FinishedSpan(
                name: state.name, kind: kind, trace: trace, parent: parent, startedAt: startedAt,
                endedAt: max(startedAt, end), attributes: state.attributes, hasFailed: state.hasFailed)
        }
        if let finished { exporter.add(finished) }
    }
}

/// A span as it is exported.
package struct FinishedSpan: Sendable {
    package var name: String
    package var kind: SpanKind
    package var trace: TraceContext
    /// Nil for the first span of a trace.
    package var parent: TraceContext?
    /// Nanoseconds since 1970.
    package var startedAt: UInt64
    package var endedAt: UInt64
    package var attributes: SpanAttributes = [:]
    package var hasFailed = false
}
