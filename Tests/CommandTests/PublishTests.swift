import Foundation
import TestSupport
import Testing

/// `--publish s3://…` with the real command, real media, and an endpoint that verifies signatures.
@Suite(.timeLimit(.minutes(3))) struct PublishTests {
    let bench: CommandBench
    let store: ObjectStore
    let prefix = "command-\(UUID().uuidString)"

    init() async throws {
        bench = try CommandBench()
        store = try await ObjectStore.shared()
    }

    private var target: String { "s3://\(ObjectStore.bucket)/\(prefix)" }

    /// The URL of the prefix.
    private var base: String { "\(store.url)/\(ObjectStore.bucket)/\(prefix)" }

    private func run(_ arguments: [String], _ environment: [String: String] = [:], input: String = "") async throws
        -> CommandResult
    {
        let variables = store.environment.merging(environment) { $1 }.mapValues { Optional($0) }
        return try await bench.command(arguments, environment: variables, input: input).run()
    }

    private func prepare(_ options: [String], _ environment: [String: String] = [:]) async throws -> PrintedManifest {
        let arguments = ["prepare", "--format", "json", "--allow-private-network", "--publish", target]
        let result = try await run(arguments + options, environment)
        let manifest = try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
        #expect(result.exitCode == (manifest.error == nil ? 0 : 1))
        return manifest
    }

    private func digest(of bytes: [UInt8]) async throws -> String {
        let path = try bench.folder.write(bytes, to: "digested")
        return String(try await RunCommand("sha256sum", [path]).run().text.prefix { $0 != " " })
    }

    @Test func `A preview page contains the thumbnail, although it is only in the bucket`() async throws {
        let page = bench.folder.path("page.html")
        let manifest = try await prepare(["--preview", page, try CommandBench.url("grid.webp")])
        let thumbnail = try #require(manifest.thumbnail)
        let object = try await store.object("\(prefix)/\(manifest.id)/\(thumbnail.file)")
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(text.contains(Data(object.body).base64EncodedString()))
    }

    @Test func `All files and the manifest are in the bucket, and no local files are left`() async throws {
        let manifest = try await prepare(["--crop", "0,0,0.5,1", try CommandBench.url("grid.webp")])
        #expect(manifest.outcome == "converted", "\(manifest.error?.message ?? "")")
        let keys = try await store.keys(below: prefix)
        let names = ["attachment.jpg", "crop.jpg", "manifest.json", "thumbnail.jpg"]
        #expect(keys == names.map { "\(prefix)/\(manifest.id)/\($0)" })
        let attachment = try #require(manifest.attachment)
        let thumbnail = try #require(manifest.thumbnail)
        let crop = try #require(manifest.crop)
        for (name, url, sha256) in [
            (attachment.file, attachment.url, attachment.sha256), (thumbnail.file, thumbnail.url, thumbnail.sha256),
            (crop.file, crop.url, crop.sha256),
        ] {
            #expect(url == "\(base)/\(manifest.id)/\(name)")
            let object = try await store.object("\(prefix)/\(manifest.id)/\(name)")
            #expect(try await digest(of: object.body) == sha256)
            #expect(object.headers["content-type"] == "image/jpeg")
        }
        let stored = try await store.object("\(prefix)/\(manifest.id)/manifest.json")
        #expect(try PrintedManifest(line: String(decoding: stored.body, as: UTF8.self)) == manifest)
        #expect(try bench.leftovers() == [])
    }

    @Test func `A movie above 8 MB is uploaded completely`() async throws {
        let movie = bench.folder.path("long.mp4")
        let arguments = [
            "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=640x480:d=3,noise=alls=100:allf=t", "-c:v", "libx264",
            "-preset", "ultrafast", "-crf", "10", "-pix_fmt", "yuv420p", movie,
        ]
        let made = try await RunCommand("ffmpeg", arguments, timeoutSeconds: 120).run()
        #expect(made.exitCode == 0, "\(made.errorText)")
        let manifest = try await prepare(["--budget", "120s", movie])
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        #expect(attachment.bytes > 8_000_000 && attachment.mimeType == "video/mp4")
        let object = try await store.object("\(prefix)/\(manifest.id)/attachment.mp4")
        #expect(try await digest(of: object.body) == attachment.sha256)
        #expect(object.headers["content-type"] == "video/mp4")
    }

    @Test func `--base-url sets the public URL in front of the bucket`() async throws {
        let manifest = try await prepare(["--base-url", "https://cdn.example/push/", try CommandBench.url("grid.jpg")])
        #expect(manifest.attachment?.url == "https://cdn.example/push/\(manifest.id)/attachment.jpg")
    }

    @Test func `The bucket may be part of the host name`() async throws {
        let port = try #require(store.url.split(separator: ":").last)
        let manifest = try await prepare([
            "--s3-endpoint", "http://s3.test:\(port)", "--resolve", "media.s3.test:\(port):127.0.0.1",
            try CommandBench.url("grid.jpg"),
        ])
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        #expect(attachment.url == "http://media.s3.test:\(port)/\(prefix)/\(manifest.id)/attachment.jpg")
        let object = try await store.object("\(prefix)/\(manifest.id)/attachment.jpg")
        #expect(try await digest(of: object.body) == attachment.sha256)
    }

    @Test func `A rejected request publishes nothing`() async throws {
        let manifest = try await prepare([try CommandBench.url("truncated.jpg")])
        #expect(manifest.outcome == "rejected")
        #expect(try await store.keys(below: prefix) == [])
    }

    @Test func `--resume reads manifests from the bucket`() async throws {
        let server = try LoopbackServer()
        try server.serve(folder: URL(filePath: SourceTree.path("samples/media"), directoryHint: .isDirectory))
        let first = try await prepare(["--resume", server.url("/grid.jpg")])
        let second = try await prepare(["--resume", server.url("/grid.jpg")])
        #expect(first == second && server.requests.count == 1)
        let moved = try await prepare(["--resume", "--base-url", "https://cdn.example", server.url("/grid.jpg")])
        #expect(moved.attachment?.url == "https://cdn.example/\(first.id)/attachment.jpg")
        #expect(server.requests.count == 1)
        _ = try await prepare(["--resume", "--thumbnail-size", "50x50", "--header", "a: b", server.url("/grid.jpg")])
        #expect(server.requests.count == 2)
    }

    @Test func `A batch publishes concurrently and prints the URLs`() async throws {
        let list = try ["grid.jpg", "clock.mp4", "empty.png"].map { try CommandBench.url($0) + "\n" }.joined()
        let result = try await run(["batch", "-", "--allow-private-network", "--publish", target], input: list)
        #expect(result.exitCode == 1)
        #expect(result.text.contains("-> \(base)/"), "\(result.text)")
        #expect(try await store.keys(below: prefix).count { $0.hasSuffix("/manifest.json") } == 2)
    }

    @Test func `A payload contains the URL in the bucket`() async throws {
        let json = #"{"aps":{"alert":"x","mutable-content":1},"attach":"\#(try CommandBench.url("grid.jpg"))"}"#
        let result = try await run(["payload", "-", "--allow-private-network", "--publish", target], input: json)
        #expect(result.exitCode == 0 && result.text.contains("\"attach\":\"\(base)/"), "\(result.errorText)")
    }

    @Test func `Credentials come from the files of the AWS tools`() async throws {
        let file = try bench.folder.write(
            "[push]\naws_access_key_id = test:tester\naws_secret_access_key = testing\n", to: "credentials")
        let environment = [
            "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "push",
            "AWS_SHARED_CREDENTIALS_FILE": file,
        ]
        #expect(try await prepare([try CommandBench.url("grid.jpg")], environment).error == nil)
    }

    @Test func `A wrong secret is publish.denied, and the secret is never printed`() async throws {
        let source = try CommandBench.url("grid.jpg")
        let arguments = ["prepare", "-v", "--allow-private-network", "--publish", target, source]
        let result = try await run(arguments, ["AWS_SECRET_ACCESS_KEY": "hush-hush"])
        #expect(result.exitCode == 1 && result.text.contains("publish.denied"), "\(result.text)")
        #expect(!result.text.contains("hush-hush") && !result.errorText.contains("hush-hush"))
        #expect(try bench.leftovers() == [])
    }

    @Test func `An invalid target or missing credentials stop the command before a download`() async throws {
        for target in ["s4://x", "s3://x", "file:/tmp/x", "s3://media/../x"] {
            #expect(try await run(["prepare", "--publish", target, "x.jpg"]).exitCode == 2, "\(target)")
        }
        let without = try await run(
            ["prepare", "--publish", target, "x.jpg"], ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""])
        #expect(without.exitCode == 1 && without.errorText.contains("There are no S3 credentials"))
    }

    @Test func `doctor checks the bucket and leaves no objects in it`() async throws {
        let fine = try await run(["doctor", "--publish", target])
        #expect(fine.exitCode == 0 && fine.text.contains("yes  publish to the bucket"), "\(fine.text)")
        let wrong = try await run(["doctor", "--publish", "s3://nowhere"])
        #expect(wrong.exitCode == 1 && wrong.text.contains("There is no bucket nowhere"), "\(wrong.text)")
        #expect(try await store.keys(below: prefix) == [])
    }
}
