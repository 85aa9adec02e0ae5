import Foundation
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
