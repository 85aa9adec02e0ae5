import Foundation
import TestSupport
import Testing

/// `/metrics` of a real `attachprep serve`.
@Suite(.timeLimit(.minutes(3))) struct ServiceMetricsTests {
    /// Owns the service's folders, so it must outlive the service.
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    private func metrics(of service: RunningService) async throws -> String {
        try await service.client.get("/metrics").text
    }

    /// The value of the first series that begins with this text.
    private func value(_ series: String, in page: String) -> Double? {
        page.split(separator: "\n").first { $0.hasPrefix(series) }?.split(separator: " ").last.flatMap { Double($0) }
    }

    @Test func `After a job, processor time, memory, stages and requests are counted`() async throws {
        let service = try await bench.start()
        let id = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("grid.heic"))"}"#)
        _ = try await service.client.ended(id)
        let page = try await metrics(of: service)
        #expect(try #require(value("attachprep_media_processes", in: page)) >= 1)
        // A media process has its libraries, 50 MB.
        #expect(try #require(value("attachprep_media_process_resident_memory_bytes", in: page)) > 20_000_000)
        #expect(try #require(value("attachprep_media_process_cpu_seconds_total", in: page)) > 0)
        #expect(try #require(value("process_cpu_seconds_total", in: page)) > 0)
        #expect(try #require(value("process_open_fds", in: page)) > 5)
        #expect(page.contains(#"attachprep_build_info{revision=""#))
        #expect(value(#"attachprep_stage_seconds_count{stage="total"}"#, in: page) == 1)
        let posted = #"attachprep_http_request_duration_seconds_count{code="202",method="POST",route="/v1/jobs"}"#
        #expect(value(posted, in: page) == 1)
        #expect(page.contains(#"route="/v1/jobs/{id}""#) && !page.contains(id))
        try await service.stop()
    }

    @Test func `promtool accepts the page, and every metric has a help text`() async throws {
        let service = try await bench.start()
        let id = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#)
        _ = try await service.client.ended(id)
        _ = try await metrics(of: service)
        let page = try await metrics(of: service)
        let result = try await RunCommand(Promtool.path.get(), ["check", "metrics"], input: Array(page.utf8)).run()
        #expect(result.exitCode == 0 && result.errorText.isEmpty, "\(result.text)\(result.errorText)")
        let types = page.matches(of: /# TYPE (\w+)/).map(\.1)
        #expect(types.count > 20 && types == page.matches(of: /# HELP (\w+)/).map(\.1))
        try await service.stop()
    }
}
