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

    /// The key of a file by its content.
    private func key(_ sha256: String, _ type: String = "jpg") -> String {
        "\(prefix)/_content/\(sha256.prefix(32)).\(type)"
    }

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
        let object = try await store.object(key(thumbnail.sha256))
        let text = try String(contentsOfFile: page, encoding: .utf8)
        #expect(text.contains(Data(object.body).base64EncodedString()))
    }

    @Test func `All files and the manifest are in the bucket, and no local files are left`() async throws {
        let manifest = try await prepare(["--crop", "0,0,0.5,1", try CommandBench.url("grid.webp")])
        #expect(manifest.outcome == "converted", "\(manifest.error?.message ?? "")")
        let keys = try await store.keys(below: prefix)
        let attachment = try #require(manifest.attachment)
        let thumbnail = try #require(manifest.thumbnail)
        let crop = try #require(manifest.crop)
        let files = [
            (attachment.url, attachment.sha256), (thumbnail.url, thumbnail.sha256), (crop.url, crop.sha256),
        ]
        #expect(keys == (files.map { key($0.1) } + ["\(prefix)/\(manifest.id)/manifest.json"]).sorted())
        for (url, sha256) in files {
            #expect(url == "\(store.url)/\(ObjectStore.bucket)/\(key(sha256))")
            let object = try await store.object(key(sha256))
            #expect(object.headers["cache-control"] == "public, max-age=31536000, immutable")
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
        let object = try await store.object(key(attachment.sha256, "mp4"))
        #expect(try await digest(of: object.body) == attachment.sha256)
        #expect(object.headers["content-type"] == "video/mp4")
    }

    @Test func `--base-url sets the public URL in front of the bucket`() async throws {
        let manifest = try await prepare(["--base-url", "https://cdn.example/push/", try CommandBench.url("grid.jpg")])
        let attachment = try #require(manifest.attachment)
        #expect(attachment.url == "https://cdn.example/push/_content/\(attachment.sha256.prefix(32)).jpg")
    }

    // Issue 23, item 10.
    @Test func `A new version of a source leaves the files of payloads that are on their way`() async throws {
        let server = try LoopbackServer()
        let versions = try ["grid.jpg", "orientation-6.jpg"].map {
            try Data(contentsOf: URL(filePath: SourceTree.sample($0)))
        }
        server.serve("/cat.jpg", inTurn: versions.map { .body($0) })
        let first = try await prepare([server.url("/cat.jpg")])
        let second = try await prepare([server.url("/cat.jpg")])
        let (old, new) = (try #require(first.attachment), try #require(second.attachment))
        #expect(first.id == second.id && old.url != new.url)
        for file in [old, new] {
            #expect(try await digest(of: store.object(key(file.sha256)).body) == file.sha256)
        }
        let stored = try await store.object("\(prefix)/\(first.id)/manifest.json")
        #expect(String(decoding: stored.body, as: UTF8.self).contains(new.sha256))
    }

    @Test func `Equal files of several results are stored once`() async throws {
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        let server = try LoopbackServer()
        for name in ["/a.jpg", "/b.jpg"] { server.serve(name, .body(image)) }
        let manifests = try await [prepare([server.url("/a.jpg")]), prepare([server.url("/b.jpg")])]
        #expect(manifests[0].id != manifests[1].id && manifests[0].attachment?.url == manifests[1].attachment?.url)
        let keys = try await store.keys(below: prefix)
        #expect(keys.count { $0.contains("/_content/") } == 2 && keys.count { $0.hasSuffix("/manifest.json") } == 2)
    }

    @Test func `--s3-layout id keeps the files beside the manifest, and its results stay valid`() async throws {
        let server = try LoopbackServer()
        try server.serve(folder: URL(filePath: SourceTree.path("samples/media"), directoryHint: .isDirectory))
        let first = try await prepare(["--s3-layout", "id", server.url("/grid.jpg")])
        let key = "\(prefix)/\(first.id)/attachment.jpg"
        #expect(first.attachment?.url == "\(store.url)/\(ObjectStore.bucket)/\(key)")
        let object = try await store.object(key)
        #expect(object.headers["cache-control"] == "public, max-age=3600")
        let reused = try await prepare(["--resume", server.url("/grid.jpg")])
        #expect(reused == first && server.requests.count == 1)
    }

    @Test func `The bucket may be part of the host name`() async throws {
        let port = try #require(store.url.split(separator: ":").last)
        let manifest = try await prepare([
            "--s3-endpoint", "http://s3.test:\(port)", "--resolve", "media.s3.test:\(port):127.0.0.1",
            try CommandBench.url("grid.jpg"),
        ])
        let attachment = try #require(manifest.attachment, "\(manifest.error?.message ?? "")")
        #expect(attachment.url == "http://media.s3.test:\(port)/\(key(attachment.sha256))")
        let object = try await store.object(key(attachment.sha256))
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
        #expect(moved.attachment?.url == first.attachment?.url?.replacing(base, with: "https://cdn.example"))
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

    @Test(arguments: ["web identity", "container role", "instance role", "credential_process"])
    func `Temporary credentials of a role publish a result`(kind: String) async throws {
        let source = try LoopbackServer()
        let end = Date(timeIntervalSinceNow: 3_600).formatted(.iso8601)
        let keys = "\"AccessKeyId\": \"test:tester\", \"SecretAccessKey\": \"testing\", \"Expiration\": \"\(end)\""
        let document = LoopbackResponse.body(Data("{\(keys), \"Token\": \"t\"}".utf8))
        let role = "/latest/meta-data/iam/security-credentials/"
        source.serve("/creds", document)
        source.serve("/latest/api/token", .body(Data("session".utf8)))
        source.serve(role, .body(Data("media".utf8)))
        source.serve("\(role)media", document)
        source.serve(
            "/",
            .body(
                Data(
                    ("<R><AccessKeyId>test:tester</AccessKeyId><SecretAccessKey>testing</SecretAccessKey>"
                        + "<SessionToken>t</SessionToken><Expiration>\(end)</Expiration></R>").utf8)))
        let token = try bench.folder.write("jot", to: "token")
        let configuration = try bench.folder.write(
            "[default]\ncredential_process = printf '%s' '{\"Version\": 1, \(keys)}'\n", to: "config")
        let environment =
            switch kind {
            case "web identity":
                [
                    "AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::1:role/media",
                    "AWS_ENDPOINT_URL_STS": source.url("/"),
                ]
            case "container role": ["AWS_CONTAINER_CREDENTIALS_FULL_URI": source.url("/creds")]
            case "instance role":
                ["AWS_EC2_METADATA_SERVICE_ENDPOINT": source.url(""), "AWS_METADATA_SERVICE_TIMEOUT": "20"]
            default: ["AWS_CONFIG_FILE": configuration]
            }
        let none = ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""]
        let manifest = try await prepare([try CommandBench.url("grid.jpg")], none.merging(environment) { $1 })
        #expect(manifest.error == nil, "\(manifest.error?.message ?? "")")
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
