import Foundation
import TestSupport
import Testing

/// Traces as a collector receives them from real processes.
@Suite(.timeLimit(.minutes(4))) struct TraceTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let callerTrace = "0af7651916cd43dd8448eb211c80319c"
    private static let caller = ["traceparent": "00-\(callerTrace)-b7ad6b7169203331-01", "tracestate": "rojo=1"]

    let bench: ServiceBench
    let collector: TraceCollector

    init() throws {
        bench = try ServiceBench()
        collector = try TraceCollector()
    }

    private var environment: [String: String?] {
        [
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_BSP_SCHEDULE_DELAY": "50",
            "ATTACHPREP_WEBHOOK_SECRETS": Self.secret,
        ]
    }

    private func start(_ environment: [String: String?]) async throws -> RunningService {
        try await bench.start(["--allow-callback-network", "127.0.0.0/8"], environment: environment)
    }

    /// The header of a request as trace id, span id and flags.
    private func parent(_ request: LoopbackRequest?) -> [String] {
        (request?.headers["traceparent"] ?? "").split(separator: "-").dropFirst().map(String.init)
    }

    @Test func `A request, its job, the stages and the webhook are one trace, with no secret in it`() async throws {
        let (origin, receiver) = (try LoopbackServer(), try LoopbackServer())
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.webp")))
        origin.serve("/p4th-t0ken/grid.webp", .body(image, type: "image/webp"))
        receiver.serve("/h00k", inTurn: [.status(503), .status(204)])
        let service = try await start(environment)
        let source = origin.url("/p4th-t0ken/grid.webp?sig=qu3ry").replacingOccurrences(of: "//", with: "//us3r:pa55@")
        let callback = receiver.url("/h00k?k=qu3ry")
        let id = try await service.client.submit(
            #"{"source": "\#(source)", "headers": {"X-Key": "h34der"}, "callbackURL": "\#(callback)"}"#,
            headers: Self.caller)
        await receiver.until { $0.requests.count == 2 }
        let log = try await service.stop().errorText
        let spans = try collector.spans().filter { $0.traceID == Self.callerTrace }
        let one = { (name: String) throws -> ReceivedSpan in
            try #require(spans.first { $0.name == name }, "\(spans.map(\.name))")
        }
        let (request, job, prepare) = (try one("POST /v1/jobs"), try one("job"), try one("prepare"))
        #expect(request.parentID == "b7ad6b7169203331" && request.kind == 2 && request.traceState == "rojo=1")
        #expect(request.attributes["http.response.status_code"] == "202")
        #expect(job.parentID == request.spanID && job.kind == 5 && job.start >= request.start)
        #expect(job.attributes["attachprep.job.id"] == id && job.attributes["attachprep.job.state"] == "succeeded")
        #expect(try one("queue").parentID == request.spanID && one("queue").end == job.start)
        #expect(prepare.parentID == job.spanID)
        for stage in ["firstByte", "transfer", "identify", "inspect", "render", "publish"] {
            let span = try one(stage)
            #expect(span.parentID == prepare.spanID && span.start <= span.end && span.end <= prepare.end, "\(stage)")
            #expect(span.attributes["attachprep.outcome"] == "converted", "\(span.attributes)")
            #expect(span.attributes["attachprep.media.kind"] == "image")
            #expect(span.attributes["attachprep.source.bytes"] == "\(image.count)")
            #expect(span.attributes["server.address"] == "127.0.0.1")
        }
        let webhooks = spans.filter { $0.name == "webhook" }
        #expect(webhooks.map(\.parentID) == [job.spanID, job.spanID] && webhooks.map(\.hasFailed) == [true, false])
        #expect(webhooks.map { $0.attributes["http.response.status_code"] } == ["503", "204"])
        #expect(receiver.requests.map { parent($0) } == webhooks.map { [Self.callerTrace, $0.spanID, "01"] })
        #expect(origin.requests.allSatisfy { $0.headers["traceparent"] == nil })
        let sent = collector.bodies.map { String(decoding: $0, as: UTF8.self) }.joined()
        for secret in ["p4th", "qu3ry", "us3r", "pa55", "h34der", "h00k", Self.secret] {
            #expect(!sent.contains(secret), "\(secret)")
        }
        let line = try #require(log.split(separator: "\n").first { $0.contains("\"claimed\"") })
        #expect(line.contains(#""trace_id":"\#(Self.callerTrace)""#) && line.contains(#""span_id":"\#(job.spanID)""#))
        #expect(request.resource["service.name"] == "attachprep" && request.resource["service.version"] != nil)
    }

    @Test func `A worker on another machine and the S3 endpoint are in the trace of the request`() async throws {
        let queue = try await SharedQueueBench(try await PostgresServer.start())
        let shared = queue.environment.merging(environment) { $1 }
        let front = try await bench.launch(
            "serve", ["--accept-only"], environment: shared.merging(["OTEL_SERVICE_NAME": "front"]) { $1 })
        let worker = try await bench.launch(
            "worker", environment: shared.merging(["OTEL_SERVICE_NAME": "worker"]) { $1 })
        let id = try await front.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#, headers: Self.caller)
        #expect(try await front.client.ended(id).state == "succeeded")
        for process in [front, worker] { try await process.stop() }
        let spans = try collector.spans().filter { $0.traceID == Self.callerTrace }
        let request = try #require(spans.first { $0.name == "POST /v1/jobs" })
        let job = try #require(spans.first { $0.name == "job" })
        let publish = try #require(spans.first { $0.name == "publish" })
        #expect(job.parentID == request.spanID)
        #expect(request.resource["service.name"] == "front" && job.resource["service.name"] == "worker")
        let puts = spans.filter { $0.name == "S3 PUT" }
        #expect(!puts.isEmpty && puts.allSatisfy { $0.parentID == publish.spanID && $0.kind == 3 && !$0.hasFailed })
        #expect(puts.allSatisfy { $0.attributes["server.address"] == "127.0.0.1" }, "\(puts.map(\.attributes))")
    }

    @Test func `A failed source fails its stage and its job with the code of the error`() async throws {
        let service = try await start(environment)
        let id = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#)
        _ = try await service.client.ended(id)
        try await service.stop()
        let spans = try collector.spans()
        let job = try #require(spans.first { $0.name == "job" })
        let ofJob = spans.filter { $0.traceID == job.traceID }
        #expect(job.hasFailed && job.attributes["error.type"] == "media.corrupt")
        #expect(ofJob.contains { $0.name == "prepare" && $0.hasFailed })
        #expect(ofJob.contains { ["inspect", "render"].contains($0.name) && $0.hasFailed }, "\(ofJob.map(\.name))")
    }

    @Test(arguments: [true, false])
    func `A collector that is down or hangs delays neither jobs nor the end of the service`(hangs: Bool) async throws {
        let collector = try TraceCollector(LoopbackResponse([.hang]))
        if !hangs { collector.server.stop() }
        let service = try await start(environment.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint]) { $1 })
        let ids = try await service.client.submit(
            lines: (0..<20).map { _ in #"{"source": "\#((try? ServiceBench.url("grid.webp")) ?? "")"}"# })
        for id in ids { #expect(try await service.client.ended(id).state == "succeeded") }
        let start = ContinuousClock.now
        #expect(try await service.stop().exitCode == 0)
        #expect(start.duration(to: .now) < .seconds(15))
    }

    @Test func `Probes are traced only if they name a trace, and unknown paths have no path in their span`()
        async throws
    {
        let service = try await start(environment)
        for path in ["/healthz", "/readyz", "/metrics", "/s3cret-path"] { _ = try await service.client.get(path) }
        _ = try await service.client.send("GET", "/healthz", headers: Self.caller)
        _ = try await service.client.send("S3CRET", "/v1/jobs")
        _ = try await service.client.send("GET", "/v1/overview", headers: ["traceparent": "00-junk-01"])
        try await service.stop()
        let spans = try collector.spans()
        let names = spans.map(\.name)
        #expect(Set(names) == ["GET", "GET /healthz", "GET /v1/overview"], "\(names)")
        #expect(names.count { $0 == "GET /healthz" } == 1)
        #expect(!collector.bodies.contains { String(decoding: $0, as: UTF8.self).lowercased().contains("s3cret") })
        #expect(spans.first { $0.name == "GET /v1/overview" }?.parentID == nil)
    }

    @Test func `Without an endpoint nothing is traced or handed on`() async throws {
        let receiver = try LoopbackServer()
        receiver.serve("/in", .status(204))
        let service = try await start(["ATTACHPREP_WEBHOOK_SECRETS": Self.secret])
        _ = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.webp"))", "callbackURL": "\#(receiver.url("/in"))"}"#,
            headers: Self.caller)
        await receiver.until { $0.requests.count == 1 }
        #expect(receiver.requests.first?.headers["traceparent"] == nil)
        #expect(!(try await service.client.get("/metrics").text.contains("attachprep_trace_spans_total")))
        #expect(!(try await service.stop().errorText.contains("trace_id")))
    }

    @Test func `prepare sends the spans of its sources before it ends`() async throws {
        let run = try await bench.command(
            ["prepare", SourceTree.sample("grid.webp"), "--output", bench.folder.path("out")], environment: environment
        ).run()
        #expect(run.exitCode == 0, "\(run.errorText)")
        let spans = try collector.spans()
        #expect(spans.contains { $0.name == "prepare" && $0.parentID == nil } && spans.contains { $0.name == "render" })
    }
}
