import Foundation
import TestSupport
import Testing

/// The manifest is a contract: other programs rely on every key.
@Suite(.timeLimit(.minutes(2))) struct ManifestContractTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    private func keys(_ value: Any?) -> Set<String> { Set((value as? [String: Any] ?? [:]).keys) }

    static let topKeys: Set<String> = [
        "schema", "id", "requestDigest", "outcome", "reasons", "source", "attachment", "thumbnail", "crop", "options",
        "deviceFetch", "timings", "warnings", "error",
    ]
    static let imageKeys: Set<String> = ["file", "url", "mimeType", "bytes", "sha256", "width", "height"]

    @Test func `The manifest of a success has exactly the keys of the contract`() async throws {
        let arguments = bench.arguments("prepare", ["--crop", "0,0,0.5,1", try CommandBench.url("orientation-6.jpg")])
        let manifest = try object(try await bench.command(arguments).run().text)
        #expect(Set(manifest.keys) == Self.topKeys)
        #expect(
            keys(manifest["source"])
                == ["url", "finalURL", "declaredMIMEType", "mimeType", "bytes", "sha256", "attachable"])
        #expect(
            keys(manifest["attachment"])
                == Self.imageKeys.union(["kind", "uti", "frames", "duration"]))
        #expect(keys(manifest["thumbnail"]) == Self.imageKeys.union(["time"]))
        #expect(keys(manifest["crop"]) == Self.imageKeys)
        #expect(
            keys(manifest["options"]) == ["typeHint", "thumbnailHidden", "thumbnailClippingRect", "thumbnailTime"])
        #expect(keys(manifest["deviceFetch"]) == ["3g", "lte", "wifi"])
        #expect(
            keys(manifest["timings"]) == [
                "queue", "dns", "connect", "tls", "firstByte", "transfer", "identify", "inspect", "render", "publish",
                "total",
            ])
        #expect(manifest["error"] is NSNull)
        #expect(manifest["schema"] as? Int == 1)
    }

    @Test func `The manifest of a rejection has the same keys, with null for what does not apply`() async throws {
        let arguments = bench.arguments("prepare", [try CommandBench.url("nowhere.jpg")])
        let manifest = try object(try await bench.command(arguments).run().text)
        #expect(Set(manifest.keys) == Self.topKeys)
        for key in ["attachment", "thumbnail", "crop", "options", "deviceFetch"] { #expect(manifest[key] is NSNull) }
        #expect(keys(manifest["error"]) == ["code", "message", "retryable", "appleCode", "status"])
        #expect(keys(manifest["source"]).count == 6)
    }

    @Test(
        arguments: [
            ("grid.jpg", [], true), ("counter.gif", [], true), ("clock.mp4", [], true), ("tone.m4a", [], true),
            ("orientation-6.jpg", ["--rendition", "display"], true), ("grid.png", ["--attachment-types", "jpg"], true),
            ("counter.gif", ["--animation", "still"], true), ("clock.mp4", ["--max-bytes", "20000"], true),
            ("grid.webp", [], false), ("clock.mkv", [], false), ("counter.apng.png", [], false),
            ("grid.webp", ["--unsupported", "reject"], false), ("truncated.jpg", [], false), ("cut.mp4", [], false),
            ("empty.png", [], nil), ("nowhere.jpg", [], nil),
            // Rejected by the request before its pixels were decoded.
            ("grid.jpg", ["--max-bytes", "100", "--oversize", "reject"], nil),
        ] as [(String, [String], Bool?)])
    func `The manifest says whether iOS shows the source unchanged, whatever the request asks for`(
        sample: String, options: [String], isAttachable: Bool?
    ) async throws {
        let arguments = bench.arguments("prepare", options + [try CommandBench.url(sample)])
        let manifest = try object(try await bench.command(arguments).run().text)
        let source = try #require(manifest["source"] as? [String: Any])
        #expect(source["attachable"] as? Bool == isAttachable, "\(manifest)")
    }

    @Test(arguments: [("grid.jpg", true), ("grid.webp", false), ("truncated.jpg", false)])
    func `inspect says it as well`(sample: String, isAttachable: Bool) async throws {
        let arguments = ["inspect", "--format", "json", "--allow-private-network", try CommandBench.url(sample)]
        let report = try object(try await bench.command(arguments).run().text)
        #expect((report["source"] as? [String: Any])?["attachable"] as? Bool == isAttachable, "\(report)")
    }

    @Test func `The printed manifest is identical to manifest.json`() async throws {
        let result = try await bench.command(bench.arguments("prepare", [try CommandBench.url("clock.mp4")])).run()
        let id = try PrintedManifest(line: try #require(result.lines.first)).id
        #expect(try bench.folder.bytes(of: "out/\(id)/manifest.json") == result.output)
    }

    @Test func `Timings of a download are positive and at most the total`() async throws {
        let timings = try await PreparedSamples.manifest("grid.jpg").timings
        let total = try #require(timings["total"])
        for stage in ["firstByte", "identify", "inspect", "render", "publish"] {
            let time = try #require(timings[stage])
            // A signature is found within microseconds.
            #expect((time > 0 || stage == "identify") && time <= total, "\(stage)")
        }
    }

    @Test(arguments: ["https://media.example/push", "https://media.example/push/"])
    func `With --base-url, each file has its URL`(base: String) async throws {
        let url = try CommandBench.url("grid.webp")
        let manifest = try await bench.prepare(url, "--base-url", base, "--crop", "0,0,1,0.5")
        let attachment = try #require(manifest.attachment)
        let (thumbnail, crop) = (try #require(manifest.thumbnail), try #require(manifest.crop))
        let files = [
            (attachment.file, attachment.url, attachment.sha256), (thumbnail.file, thumbnail.url, thumbnail.sha256),
            (crop.file, crop.url, crop.sha256),
        ]
        for (name, url, sha256) in files {
            let path = "_content/\(sha256.prefix(32)).jpg"
            #expect(url == "https://media.example/push/\(path)")
            let served = try Data(contentsOf: URL(filePath: "\(bench.output)/\(path)"))
            #expect(try Data(contentsOf: URL(filePath: bench.path(manifest, name))) == served)
        }
    }

    @Test func `Equal files of several results share their disk space, and a removed one is prepared again`()
        async throws
    {
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        let server = try LoopbackServer()
        for name in ["/a.jpg", "/b.jpg"] { server.serve(name, .body(image)) }
        let options = ["--base-url", "https://media.example"]
        let first = try await bench.prepare(server.url("/a.jpg"), options[0], options[1])
        let second = try await bench.prepare(server.url("/b.jpg"), options[0], options[1])
        let files = try [first, second].map {
            try FileManager.default.attributesOfItem(atPath: bench.path($0, "attachment.jpg"))
        }
        #expect(first.id != second.id)
        #expect(files[0][.systemFileNumber] as? Int == files[1][.systemFileNumber] as? Int)
        #expect(files[0][.referenceCount] as? Int == 3)
        try FileManager.default.removeItem(atPath: "\(bench.output)/_content")
        let again = try await bench.prepare(server.url("/a.jpg"), options[0], options[1], "--resume")
        #expect(again.attachment?.url == first.attachment?.url && server.requests(to: "/a.jpg").count == 2)
    }

    @Test func `Without --base-url, no file has a URL`() async throws {
        let manifest = try await PreparedSamples.manifest("grid.jpg")
        #expect(manifest.attachment != nil && manifest.attachment?.url == nil)
        #expect(manifest.thumbnail != nil && manifest.thumbnail?.url == nil)
    }

    @Test func `The manifest has both the declared and the detected type of the source`() async throws {
        let server = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.webp")))
        server.serve("/old", .redirect("/new?x=1"))
        server.serve("/new", .body(image, type: "image/jpeg; charset=binary"))
        let source = try await bench.prepare(server.url("/old")).source
        #expect(source.url == server.url("/old"))
        #expect(source.finalURL == server.url("/new?x=1"))
        #expect(source.declaredMIMEType?.hasPrefix("image/jpeg") == true)
        #expect(source.mimeType == "image/webp" && source.bytes == image.count)
    }
}
