import Foundation
import TestSupport
import Testing
import Tracing

@testable import OTLP

@Suite struct OTLPEncoderTests {
    private let encoder = OTLPEncoder(
        resource: [("service.name", "att\"ach\\prep"), ("host.name", "h\u{0}\n\u{1F600}é")], version: "1.0.0")

    private func span(_ attributes: SpanAttributes = [:], kind: SpanKind = .internal) -> FinishedSpan {
        let trace = TraceContext(
            traceID: TraceContext.TraceID(high: 1, low: 2), spanID: 3, isSampled: true, state: "rojo=1")
        var span = FinishedSpan(
            name: "na\tme", kind: kind, trace: trace, startedAt: 1_795_576_640_919_000_001,
            endedAt: 1_795_576_640_920_000_002)
        span.parent = TraceContext(traceID: trace.traceID, spanID: .max, isSampled: true, isRemote: true)
        span.attributes = attributes
        span.hasFailed = true
        return span
    }

    private var allKinds: [FinishedSpan] {
        [SpanKind.internal, .server, .client, .producer, .consumer].map { kind in
            span(
                [
                    "text": "a\"b\\c\u{1}", "int": .int64(.min), "small": .int32(7), "bool": true, "off": false,
                    "double": 0.1, "infinite": .double(.infinity), "list": .stringArray(["a"]),
                ], kind: kind)
        }
    }

    @Test func `Ids are hexadecimal, times and integers are text, and enums are numbers`() throws {
        let body = Data(try encoder.request([span(["n": 5], kind: .server)]))
        let received =
            try #require(
                try JSONSerialization.jsonObject(with: body) as? [String: Any])["resourceSpans"] as? [[String: Any]]
        let scopes = try #require(received?.first?["scopeSpans"] as? [[String: Any]])
        let json = try #require((scopes.first?["spans"] as? [[String: Any]])?.first)
        #expect(json["traceId"] as? String == "00000000000000010000000000000002")
        #expect(json["spanId"] as? String == "0000000000000003")
        #expect(json["parentSpanId"] as? String == "ffffffffffffffff")
        #expect(json["startTimeUnixNano"] as? String == "1795576640919000001" && json["kind"] as? Int == 2)
        #expect(json["flags"] as? Int == 0x301 && json["traceState"] as? String == "rojo=1")
        #expect((json["status"] as? [String: Int]) == ["code": 2])
        let value = (json["attributes"] as? [[String: Any]])?.first?["value"] as? [String: String]
        #expect(value == ["intValue": "5"])
    }

    @Test func `Long texts are cut at a character`() throws {
        let body = try encoder.request([span(["long": .string(String(repeating: "é", count: 10_000))])])
        #expect(body.count < 3_000 && String(validating: body, as: UTF8.self) != nil)
        #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(body)) }
    }

    /// The definitions of OpenTelemetry itself, read by Protocol Buffers.
    @Test(.timeLimit(.minutes(2))) func `OpenTelemetry's own parser accepts a request with every kind of value`()
        async throws
    {
        let tools = SourceTree.root.appendingPathComponent("tools/telemetry-validator")
        let install = try await RunCommand(tools.appendingPathComponent("install").path, timeoutSeconds: 100).run()
        let python = try #require(
            install.lines.last, "make deps-test installs opentelemetry-proto: \(install.errorText)")
        let spans = allKinds
        let run = try await RunCommand(
            python, [tools.appendingPathComponent("otlp.py").path], input: try encoder.request(spans)
        ).run()
        #expect(run.exitCode == 0, "\(run.errorText)")
        #expect(run.lines == spans.map { _ in "na\tme" })
    }
}
