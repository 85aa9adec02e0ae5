internal import AttachPrepModel
internal import MediaTypes
internal import SafeArithmetic
internal import Synchronization
internal import Tracing

/// The spans of one preparation: `prepare`, and below it one for each stage of the manifest's timings.
///
/// A stage has been measured when its span is made; the spans end when the manifest is known, whose outcome, kind,
/// bytes and host they all get. Without a tracer, and for traces that are not sampled, nothing is recorded.
final class StageSpans: Sendable {
    private struct Stage {
        let span: any Span
        let end: DefaultTracerClock.Timestamp
    }

    private let tracer: any Tracer
    private let context: ServiceContext
    private let host: String?
    private let stages = Mutex<[Stage]>([])

    /// - Parameter host: the source's, without port.
    init(_ tracer: any Tracer, _ context: ServiceContext, host: String?) {
        (self.tracer, self.context, self.host) = (tracer, context, host)
    }

    /// Adds a stage that has just ended.
    func record(_ name: String, milliseconds: Double, error: (any Error)? = nil) {
        record([(name, milliseconds)], error: error)
    }

    /// Adds consecutive stages, of which the last one has just ended. Those that took no time are left out.
    func record(_ stages: [(name: String, milliseconds: Double)], error: (any Error)? = nil) {
        var end = DefaultTracerClock.now
        var added: [Stage] = []
        for (name, milliseconds) in stages.reversed() where milliseconds > 0 || error != nil {
            let start = end.earlier(milliseconds)
            let span = tracer.startSpan(name, context: context, at: start)
            if let error, added.isEmpty { span.fail(error) }
            added.append(Stage(span: span, end: end))
            end = start
        }
        self.stages.withLock { $0 += added.reversed() }
    }

    /// Performs a stage whose requests to other services are its children.
    func during<Result>(_ name: String, _ work: () async throws -> Result) async throws -> Result {
        let span = tracer.startSpan(name, context: context)
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await ServiceContext.withValue(span.context) { try await work() })
        } catch {
            span.fail(error)
            result = .failure(error)
        }
        stages.withLock { $0.append(Stage(span: span, end: DefaultTracerClock.now)) }
        return try result.get()
    }

    /// Ends the spans of the stages and completes the span of the preparation.
    func end(_ result: PreparationResult, of preparation: any Span) {
        var facts = SpanAttributes()
        facts["server.address"] = host
        switch result {
        case .unchanged: facts["attachprep.outcome"] = "unchanged"
        case .ended(let manifest, _): add(manifest, error: manifest.error?.code, to: &facts, preparation: preparation)
        case .unpublished(let result, let error):
            add(result.manifest, error: error.code, to: &facts, preparation: preparation)
        }
        for stage in stages.withLock({ $0 }) {
            stage.span.attributes.merge(facts)
            stage.span.end(at: stage.end)
        }
        preparation.attributes.merge(facts)
    }

    private func add(
        _ manifest: Manifest, error: ErrorCode?, to facts: inout SpanAttributes, preparation: any Span
    ) {
        facts["attachprep.outcome"] = manifest.outcome.rawValue
        facts["attachprep.media.type"] = manifest.source.mimeType
        facts["attachprep.media.kind"] = manifest.source.mimeType.map { String($0.prefix { $0 != "/" }) }
        facts["attachprep.source.bytes"] = manifest.source.bytes
        facts["attachprep.attachment.bytes"] = manifest.attachment?.bytes
        guard let error else { return }
        preparation.attributes["error.type"] = error.rawValue
        preparation.setStatus(SpanStatus(code: .error))
    }
}

extension PreparationPipeline {
    /// Runs the pipeline within a span, if there is a tracer.
    func traced() async -> PreparationResult {
        guard let tracer = dependencies.tracer else { return await run() }
        return await tracer.withSpan("prepare") { span in
            guard span.isRecording else { return await run() }
            var pipeline = self
            let spans = StageSpans(tracer, span.context, host: location.host)
            pipeline.spans = spans
            let result = await pipeline.run()
            spans.end(result, of: span)
            return result
        }
    }
}

extension SourceLocation {
    /// The host of a URL, which contains no secrets; nil for a file.
    fileprivate var host: String? {
        guard case .remote(let url) = self else { return nil }
        return (try? WebAddress(url))?.host
    }
}

extension Span {
    /// Marks the span as failed, with the error's code and without its message.
    fileprivate func fail(_ error: any Error) {
        recordError(error)
        setStatus(SpanStatus(code: .error))
    }
}

extension DefaultTracerClock.Timestamp {
    fileprivate func earlier(_ milliseconds: Double) -> DefaultTracerClock.Timestamp {
        let nanoseconds = UInt64(Int64(clamping: milliseconds * 1_000_000).magnitude)
        let start = nanoseconds < nanosecondsSinceEpoch ? nanosecondsSinceEpoch - nanoseconds : 0
        return DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start)
    }
}
