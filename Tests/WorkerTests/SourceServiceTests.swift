import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// URLs and uploads as sources, through the real service, its queue and its media processes.
@Suite(.timeLimit(.minutes(3))) struct SourceServiceTests {
    let bench: ServiceBench
    let server: LoopbackServer

    init() throws {
        (bench, server) = (try ServiceBench(), try LoopbackServer())
    }

    /// Uploads a file and returns the source that names it.
    private func upload(_ data: Data, to service: RunningService) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: service.client.url + "/v1/uploads")))
        request.httpMethod = "POST"
        let (body, _) = try await URLSession.shared.upload(for: request, from: data)
        let answer = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        return try #require(answer["source"] as? String)
    }

    @Test(arguments: [
        ("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n", "application/vnd.apple.mpegurl", "a playlist (M3U"),
        ("<!doctype html><html><head><meta property=og:image content=/a.png>", "text/html", "a web page (HTML)"),
    ])
    func `A playlist and a web page are rejected for good, as a URL and as an upload`(
        text: String, type: String, name: String
    ) async throws {
        let service = try await bench.start()
        server.serve("/source", .body(Data(text.utf8), type: type))
        for source in [server.url("/source"), try await upload(Data(text.utf8), to: service)] {
            let job = try await service.client.ended(try await service.client.submit(#"{"source": "\#(source)"}"#))
            #expect(job.state == "failed" && job.errorCode == "media.unrecognized", "\(job.json)")
            let message = ((job.json["error"] as? [String: Any])?["message"] as? String) ?? ""
            #expect(message.hasPrefix("The source is \(name)") && message.contains("; give the URL of "), "\(message)")
        }
        // Nothing that it names is requested.
        #expect(Set(server.requests.map(\.path)) == ["/source"])
        try await service.stop()
    }

    @Test func `The pictures for Android and browsers are served, and their bytes count in the media quota`()
        async throws
    {
        let service = try await bench.start(["--base-url", "http://127.0.0.1/push"])
        let body = #"{"source": "\#(try ServiceBench.url("grid.png"))", "targets": ["ios", "android", "web"]}"#
        let job = try await service.client.ended(try await service.client.submit(body))
        let renditions = try #require(job.result?["renditions"] as? [String: [String: Any]], "\(job.json)")
        #expect(renditions.keys.contains("android") && renditions.keys.contains { $0.hasPrefix("web") })
        let others = ["attachment", "thumbnail"].compactMap { job.result?[$0] as? [String: Any] }
        var stored: [String: Int] = [:]
        for file in others + renditions.values {
            let url = try #require(file["url"] as? String)
            let response = try await service.client.get(url.replacing("http://127.0.0.1/push", with: ""))
            #expect(response.status == 200 && response.body.count == file["bytes"] as? Int, "\(file)")
            stored[try #require(file["sha256"] as? String)] = response.body.count
        }
        // Equal files are stored once.
        let overview = try await service.client.get("/v1/overview").json()
        #expect(overview["mediaBytes"] as? Int == stored.values.reduce(0, +))
        try await service.stop()
    }

    @Test func `An upload is prepared like a URL`() async throws {
        let service = try await bench.start()
        let source = try await upload(Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg"))), to: service)
        let job = try await service.client.ended(try await service.client.submit(#"{"source": "\#(source)"}"#))
        #expect(job.state == "succeeded", "\(job.json)")
        #expect(try await service.client.get(try #require(job.file("attachment")).url).status == 200)
        try await service.stop()
    }
}
