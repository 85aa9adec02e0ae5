import Crypto
import Foundation
import TestSupport
import Testing

/// Jobs from their submission to the served files, with a real `attachprep serve`.
@Suite(.timeLimit(.minutes(3))) struct ServeTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    private func digest(_ data: Data) -> String {
        SHA256.hash(data: data).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func `A submitted job succeeds, and its files are served at the URLs of its manifest`() async throws {
        let service = try await bench.start(["--base-url", "https://media.example/push"])
        let id = try await service.client.submit(
            #"{"source": "\#(try ServiceBench.url("grid.webp"))", "id": "cat"}"#)
        let job = try await service.client.ended(id)
        #expect(job.state == "succeeded" && job.attempts == 1 && job.result?["id"] as? String == "cat")
        for name in ["attachment", "thumbnail"] {
            let file = try #require(job.file(name))
            #expect(file.url.hasPrefix("https://media.example/push/media/"))
            let local = service.url + file.url.dropFirst("https://media.example/push".count)
            let response = try await service.client.get(local)
            #expect(response.status == 200 && digest(response.body) == file.sha256)
        }
        #expect(try await service.stop().exitCode == 0)
        #expect(try bench.leftovers() == [])
    }

    @Test func `Location contains the path of the public URL`() async throws {
        let service = try await bench.start(["--base-url", "https://media.example/push/"])
        let response = try await service.client.send(
            "POST", "/v1/jobs", body: #"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#)
        let id = try #require(try response.json()["id"] as? String)
        #expect(response.header("location") == "/push/v1/jobs/\(id)")
        try await service.stop()
    }

    @Test func `With Prefer: wait, the response is the manifest, also of a rejected source`() async throws {
        let service = try await bench.start()
        for (sample, outcome) in [("grid.heic", "converted"), ("truncated.jpg", "rejected")] {
            let response = try await service.client.send(
                "POST", "/v1/jobs", body: #"{"source": "\#(try ServiceBench.url(sample))"}"#,
                headers: ["Prefer": "wait=30"])
            let manifest = try response.json()
            #expect(response.status == 200 && manifest["outcome"] as? String == outcome, "\(response.text)")
        }
        try await service.stop()
    }

    @Test func `All samples have the same outcomes as with the prepare command`() async throws {
        let service = try await bench.start()
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
        let ids = try await service.client.submit(
            lines: try names.map { #"{"source": "\#(try ServiceBench.url($0))"}"# })
        try await service.client.allEnded(seconds: 120)
        for (name, id) in zip(names, ids) {
            let job = try await service.client.job(id)
            let printed = try await bench.command(
                ["prepare", "--format", "json", "--allow-private-network", "--output", bench.folder.path("out")]
                    + [try ServiceBench.url(name)]
            ).run().text
            let manifest = try JSONSerialization.jsonObject(with: Data(printed.utf8)) as? [String: Any]
            #expect(job.result?["outcome"] as? String == manifest?["outcome"] as? String, "\(name)")
            let error = manifest?["error"] as? [String: Any]
            #expect(job.errorCode == error?["code"] as? String, "\(name)")
        }
        try await service.stop()
    }

    @Test func `A second service on the same data folder is rejected`() async throws {
        let service = try await bench.start()
        let second = try await bench.command(["serve", "--port", "0"]).run()
        #expect(second.exitCode == 1 && second.errorText.contains("Another attachprep serve"), "\(second.errorText)")
        try await service.stop()
    }

    @Test func `A port in use is reported with its address and exit code 1`() async throws {
        let server = try LoopbackServer()
        let result = try await bench.command(["serve", "--port", "\(server.port)"]).run()
        #expect(result.exitCode == 1 && result.errorText.contains("127.0.0.1:\(server.port)"), "\(result.errorText)")
        #expect(result.errorText.contains("choose another port"))
    }

    @Test func `After SIGTERM, running jobs are finished and queued jobs are kept`() async throws {
        let origin = try LoopbackServer()
        let gate = LoopbackGate()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/slow.jpg", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        let first = try await bench.start(["--concurrency", "1"])
        let slow = try await first.client.submit(#"{"source": "\#(origin.url("/slow.jpg"))"}"#)
        await origin.until { $0.requests.count == 1 }
        let waiting = try await first.client.submit(#"{"source": "\#(try ServiceBench.url("grid.png"))"}"#)
        first.running.send(SIGTERM)
        try await waitUntil("the service is draining") {
            (try? first.running.errorTextSoFar().contains("draining")) ?? false
        }
        gate.open()
        let result = try await first.running.result()
        #expect(result.exitCode == 0, "\(result.errorText)")
        let second = try await bench.start()
        #expect(try await second.client.job(slow).state == "succeeded")
        #expect(try await second.client.ended(waiting).state == "succeeded")
        try await second.stop()
    }

    @Test func `When the drain time is over, running jobs are queued again without a counted attempt`() async throws {
        let origin = try LoopbackServer()
        origin.serve("/never.jpg", LoopbackResponse([.hang]))
        let first = try await bench.start(["--drain", "1s"])
        let id = try await first.client.submit(#"{"source": "\#(origin.url("/never.jpg"))"}"#)
        await origin.until { $0.requests.count == 1 }
        #expect(try await first.stop().exitCode == 0)
        let listed = try await bench.command(["jobs", "list", "--format", "json"]).run()
        let job = try ServiceJob(
            try #require(try JSONSerialization.jsonObject(with: Data(listed.text.utf8)) as? [String: Any]))
        #expect(job.id == id && job.state == "queued" && job.attempts == 0)
        #expect(try bench.leftovers() == [])
    }

    @Test func `A source of many jobs is fetched once`() async throws {
        let origin = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        origin.serve("/cat.jpg", .body(image, type: "image/jpeg"))
        let service = try await bench.start()
        _ = try await service.client.submit(
            lines: (0..<100).map { #"{"source": "\#(origin.url("/cat.jpg"))", "id": "cat-\#($0)"}"# })
        try await service.client.allEnded(seconds: 60)
        let jobs = try await service.client.jobs()
        #expect(jobs.count == 100 && jobs.allSatisfy { $0.state == "succeeded" })
        #expect(Set(jobs.compactMap { $0.result?["id"] as? String }).count == 100)
        #expect(origin.requests(to: "/cat.jpg").count == 1)
        try await service.stop()
    }
}

/// The URL, type and suggested name from which app SDKs name a downloaded file: all three must agree.
@Suite(.timeLimit(.minutes(3))) struct ServedFileTests {
    /// The MIME types by extension, as in Apple's table.
    private static let types = [
        "jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "aiff": "audio/aiff", "wav": "audio/wav",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "mpg": "video/mpeg", "m2v": "video/mpeg", "mp4": "video/mp4",
        "avi": "video/x-msvideo",
    ]

    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    @Test func `URL, content type and suggested name of every served file agree`() async throws {
        let service = try await bench.start()
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceTree.path("samples/media")).sorted()
        let crop = #"{"x": 0, "y": 0, "width": 0.5, "height": 1}"#
        _ = try await service.client.submit(
            lines: try names.map { #"{"source": "\#(try ServiceBench.url($0))", "options": {"crop": \#(crop)}}"# })
        try await service.client.allEnded(seconds: 120)
        var seen: Set<String> = []
        for job in try await service.client.jobs() {
            for name in ["attachment", "thumbnail", "crop"] {
                guard let url = job.file(name)?.url, let file = job.result?[name] as? [String: Any] else { continue }
                let response = try await service.client.get(url)
                let pathExtension = URL(fileURLWithPath: url).pathExtension
                seen.insert(pathExtension)
                let type = try #require(Self.types[pathExtension], "\(url)")
                #expect(response.status == 200 && response.header("content-type") == type, "\(url)")
                #expect(file["mimeType"] as? String == type, "\(url)")
                #expect(response.header("content-disposition")?.hasSuffix(".\(pathExtension)\"") == true, "\(url)")
                let isEncoded = name != "attachment" || job.result?["outcome"] as? String == "converted"
                if pathExtension == "jpg", isEncoded {
                    #expect(response.body.starts(with: [0xff, 0xd8, 0xff, 0xe0]), "\(url)")
                    #expect(response.body.dropFirst(6).starts(with: Data("JFIF".utf8)), "\(url)")
                }
            }
        }
        #expect(seen == Set(Self.types.keys))
        try await service.stop()
    }
}
