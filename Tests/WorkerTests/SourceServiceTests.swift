import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// Streams, web pages, credentials and keys through the real service, its queue and its media processes.
@Suite(.timeLimit(.minutes(3))) struct SourceServiceTests {
    let bench: ServiceBench
    let server: LoopbackServer

    init() throws {
        (bench, server) = (try ServiceBench(), try LoopbackServer())
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/grid.png", .body(image, type: "image/png"))
    }

    private func job(_ json: String, _ options: [String] = []) async throws -> ServiceJob {
        let service = try await bench.start(options)
        let job = try await service.client.ended(try await service.client.submit(json))
        if let file = job.file("attachment") {
            #expect(try await service.client.get(file.url).status == 200)
        }
        try await service.stop()
        return job
    }

    private func source(_ job: ServiceJob) -> [String: Any] { job.result?["source"] as? [String: Any] ?? [:] }

    @Test func `The last seconds of an HLS stream become a movie`() async throws {
        let stream = try HLSStream()
        try stream.cut()
        try stream.edit { $0.replacing("#EXT-X-ENDLIST", with: "") }
        try stream.serve(on: server)
        let job = try await job(#"{"source": "\#(server.url("/list.m3u8"))", "clip": 2}"#)
        #expect(job.state == "succeeded", "\(job.json)")
        #expect((source(job)["playlist"] as? [String: Any])?["live"] as? Bool == true)
        #expect(job.file("attachment")?.url.hasSuffix(".mp4") == true)
    }

    @Test func `The image of a web page is taken`() async throws {
        let page = "<!doctype html><html><head><meta property=og:image content=/grid.png>"
        server.serve("/page", .body(Data(page.utf8), type: "text/html"))
        let job = try await job(#"{"source": "\#(server.url("/page"))", "unfurl": true}"#)
        #expect(job.state == "succeeded", "\(job.json)")
        #expect((source(job)["page"] as? [String: Any])?["property"] as? String == "og:image")
    }

    /// Uploads a file and returns the source that names it.
    private func upload(_ data: Data, to service: RunningService) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: service.client.url + "/v1/uploads")))
        request.httpMethod = "POST"
        let (body, _) = try await URLSession.shared.upload(for: request, from: data)
        let answer = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        return try #require(answer["source"] as? String)
    }

    @Test func `An upload can have a URL as fallback, and a URL an upload`() async throws {
        let service = try await bench.start()
        let damaged = try await upload(Data("no media".utf8), to: service)
        let image = try await upload(Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg"))), to: service)
        let (grid, missing) = (server.url("/grid.png"), server.url("/missing"))
        for (source, fallback, mimeType) in [(damaged, grid, "image/png"), (missing, image, "image/jpeg")] {
            let id = try await service.client.submit(#"{"source": "\#(source)", "fallbacks": ["\#(fallback)"]}"#)
            let job = try await service.client.ended(id)
            #expect(job.state == "succeeded", "\(job.json)")
            #expect(self.source(job)["mimeType"] as? String == mimeType)
            let tried = self.source(job)["tried"] as? [[String: Any]] ?? []
            #expect(tried.map { $0["url"] as? String } == [source, fallback])
        }
        try await service.stop()
    }

    @Test func `An upload is the partial result while the source is waited for`() async throws {
        let service = try await bench.start()
        let image = try await upload(Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg"))), to: service)
        let id = try await service.client.submit(
            #"{"source": "\#(server.url("/later"))", "fallbacks": ["\#(image)"], "partial": true, "wait": 30}"#)
        try await pollUntil("the partial result") { try await service.client.job(id).json["partial"] != nil }
        server.serve("/later", .body(try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))))
        let job = try await service.client.ended(id)
        let partial = try #require(job.result?["partialResult"] as? [String: Any])
        #expect(partial["source"] as? String == image)
        #expect((partial["attachment"] as? [String: Any])?["mimeType"] as? String == "image/jpeg")
        try await service.stop()
    }

    @Test func `A fallback that names no upload is rejected with the remedy`() async throws {
        let service = try await bench.start()
        let fallback = "upload:00000000000000000000000000000000"
        let response = try await service.client.send(
            "POST", "/v1/jobs", body: #"{"source": "\#(server.url("/grid.png"))", "fallbacks": ["\#(fallback)"]}"#)
        #expect(response.status == 422, "\(response.text)")
        #expect(response.text.contains("The upload of a fallback does not exist or has expired; send the file again"))
        try await service.stop()
    }

    @Test func `Credentials of a netrc file are sent to their host`() async throws {
        let netrc = try bench.folder.write("machine 127.0.0.1 login u password p\n", to: "netrc")
        let job = try await job(#"{"source": "\#(server.url("/grid.png"))"}"#, ["--netrc-file", netrc])
        #expect(job.state == "succeeded", "\(job.json)")
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == "Basic dTpw" })
    }

    @Test func `An encrypted attachment of Matrix is decrypted, and its key is in no response`() async throws {
        // The second published test vector's key and counter; the plain file is not media.
        server.serve("/file", .body(try #require(Data(base64Encoded: "5xJZTt5cQicm+9f4"))))
        let key = "__________________________________________8"
        let file = """
            {"v": "v2", "iv": "//////////8AAAAAAAAAAA", "hashes": {"sha256": \
            "YzF08lARDdOCzJpzuSwsjTNlQc4pHxpdHcXiD/wpK6k"}, "key": {"kty": "oct", "alg": "A256CTR", "key_ops": \
            ["decrypt"], "ext": true, "k": "\(key)"}}
            """
        let job = try await job(#"{"source": "\#(server.url("/file"))", "matrix": {"file": \#(file)}}"#)
        #expect(job.state == "failed" && job.errorCode == "media.unrecognized")
        #expect("\(job.json)".contains("text/plain") && !"\(job.json)".contains(key))
    }
}
