package import Tracing

/// The headers that identify a span to another process (W3C Trace Context): `traceparent`, and `tracestate` if there is
/// one.
///
/// They are kept with jobs and webhooks, and sent to S3 endpoints and receivers of webhooks, but not to the origins of
/// media, which are third parties.
public struct TraceHeaders: Codable, Sendable, Hashable {
    public var traceparent: String
    public var tracestate: String?

    public init(traceparent: String, tracestate: String? = nil) {
        (self.traceparent, self.tracestate) = (traceparent, tracestate)
    }

    /// The headers of a span; nil outside of a trace.
    package init?(_ context: ServiceContext, _ tracer: any Tracer) {
        var fields: [String: String] = [:]
        tracer.inject(context, into: &fields, using: FieldInjector())
        guard let parent = fields["traceparent"] else { return nil }
        self.init(traceparent: parent, tracestate: fields["tracestate"])
    }

    /// The headers of the task's span; nil without a tracer or outside of a trace.
    package static func current(_ tracer: (any Tracer)?) -> TraceHeaders? {
        guard let tracer, let context = ServiceContext.current else { return nil }
        return TraceHeaders(context, tracer)
    }

    /// A context whose spans are children of the headers' span; one without a trace if the headers are invalid.
    package func context(_ tracer: any Tracer) -> ServiceContext {
        var context = ServiceContext.topLevel
        tracer.extract(self, into: &context, using: HeaderExtractor())
        return context
    }

    /// The header lines of a request.
    package var fields: [(name: String, value: String)] {
        [("traceparent", traceparent)] + (tracestate.map { [("tracestate", $0)] } ?? [])
    }

    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
            carrier[key] = value
        }
    }

    private struct HeaderExtractor: Extractor {
        func extract(key: String, from headers: TraceHeaders) -> String? {
            switch key {
            case "traceparent": headers.traceparent
            case "tracestate": headers.tracestate
            default: nil
            }
        }
    }
}
