import OTLP
import Testing
import Tracing

@testable import AttachPrep

@Suite struct TraceContextTests {
    private static let valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `A valid traceparent is read and written unchanged`() throws {
        let context = try #require(TraceContext(parent: Self.valid, state: "rojo=00f067aa0ba902b7,congo=t61"))
        #expect(context.parent == Self.valid && context.isSampled && context.isRemote)
        #expect(context.state == "rojo=00f067aa0ba902b7,congo=t61")
        #expect("\(context.traceID)" == "0af7651916cd43dd8448eb211c80319c")
    }

    @Test(arguments: [
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00": false,
        "00-00000000000000000000000000000001-0000000000000001-ff": true,
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02": false,
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later": true,
    ])
    func `Flags and later versions are read`(header: String, isSampled: Bool) throws {
        #expect(try #require(TraceContext(parent: header, state: nil)).isSampled == isSampled)
    }

    @Test(arguments: [
        "", "-", "00", "00-", valid + "-00", valid + " ", " " + valid, valid.uppercased(),
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319cc-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        "0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.what",
        "00-ªaf7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        String(repeating: "0", count: 1_000_000), "\u{0}" + valid, "00-0af7651916cd43dd8448eb211c80319c\r\nx: y",
    ])
    func `An invalid traceparent starts a new trace`(header: String) {
        #expect(TraceContext(parent: header, state: nil) == nil)
    }

    @Test(arguments: [
        ("a=1", "a=1"), ("", ""), (" a=1 ,\tb=2 ", "a=1,b=2"), ("a=1,,b=2", "a=1,b=2"),
        ("tenant@system=1", "tenant@system=1"), ("a=1,a=2", ""), ("a", ""), ("=1", ""), ("A=1", ""), ("a=", ""),
        ("a=1=2", ""), ("a=\u{e9}", ""), ("a=1\r\nx: y", ""), ("a=\u{0}", ""),
        ((0..<33).map { "k\($0)=1" }.joined(separator: ","), ""),
        ("a=\(String(repeating: "v", count: 250)),b=\(String(repeating: "w", count: 250)),c=3456789", nil),
    ])
    func `A tracestate is handed on if every entry is valid, up to 512 bytes`(header: String, expected: String?) throws
    {
        let state = try #require(TraceContext(parent: Self.valid, state: header)).state
        #expect(state.utf8.count <= 512)
        if let expected { #expect(state == expected) } else { #expect(state.hasPrefix("a=v") && !state.contains("c=")) }
    }

    @Test func `Headers of a span are read back as its context`() throws {
        let exporter = try SpanExporter(
            TracingConfiguration(endpoint: "http://127.0.0.1:9"), metrics: nil, logger: .init(label: "test"))
        let tracer = OTLPTracer(sampler: .standard, exporter: exporter)
        let span = tracer.startSpan("a", context: .topLevel)
        let headers = try #require(TraceHeaders(span.context, tracer))
        #expect(headers.context(tracer).trace?.spanID == span.context.trace?.spanID)
        #expect(TraceHeaders(traceparent: "junk").context(tracer).trace == nil)
    }
}

@Suite struct TraceSamplerTests {
    private static let low = TraceContext.TraceID(high: 7, low: 1 << 61)
    private static let high = TraceContext.TraceID(high: 7, low: .max)

    private func parent(_ isSampled: Bool) -> TraceContext {
        TraceContext(traceID: Self.high, spanID: 1, isSampled: isSampled, isRemote: true)
    }

    /// Whether a trace with a low and a high id is sampled, and whether children of a sampled and another span are.
    @Test(arguments: [
        ("always_on", nil, [true, true, true, true]), ("always_off", nil, [false, false, false, false]),
        ("traceidratio", "0.5", [true, false, false, false]), ("traceidratio", "1", [true, true, true, true]),
        ("traceidratio", "0", [false, false, false, false]), ("traceidratio", "2", [true, true, true, true]),
        ("traceidratio", nil, [true, true, true, true]), ("parentbased_always_on", nil, [true, true, true, false]),
        ("parentbased_always_off", nil, [false, false, true, false]),
        ("parentbased_traceidratio", "0.5", [true, false, true, false]),
    ])
    func `A sampler decides by its name, its argument and the parent`(
        name: String, argument: String?, expected: [Bool]
    ) throws {
        let sampler = try #require(TraceSampler(name: name, argument: argument))
        let decisions = [
            sampler.samples(Self.low, parent: nil), sampler.samples(Self.high, parent: nil),
            sampler.samples(Self.high, parent: parent(true)), sampler.samples(Self.high, parent: parent(false)),
        ]
        #expect(decisions == expected)
    }

    @Test(arguments: ["", "on", "parentbased_", "jaeger_remote", "ALWAYS_ON"])
    func `An unknown sampler is not accepted`(name: String) {
        #expect(TraceSampler(name: name, argument: nil) == nil)
    }
}
