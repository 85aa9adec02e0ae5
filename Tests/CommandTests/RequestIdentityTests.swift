import Foundation
import TestSupport
import Testing

/// The folder of a result, its request digest, and secrets that are never printed.
@Suite(.timeLimit(.minutes(2))) struct RequestIdentityTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    @Test func `The same request is written to the same folder`() async throws {
        let first = try await bench.prepare(CommandBench.url("grid.jpg"))
        let again = try await bench.prepare(CommandBench.url("grid.jpg"), "--budget", "50s")
        #expect(first.id == again.id && first.requestDigest == again.requestDigest)
        #expect(try bench.leftovers().filter { $0.hasSuffix("manifest.json") }.count == 1)
    }

    @Test func `Another option makes another result in another folder`() async throws {
        let first = try await bench.prepare(CommandBench.url("grid.jpg"))
        let other = try await bench.prepare(CommandBench.url("grid.jpg"), "--thumbnail-size", "100x100")
        #expect(first.id != other.id && first.requestDigest != other.requestDigest)
        #expect(try bench.leftovers().filter { $0.hasSuffix("manifest.json") }.count == 2)
    }

    @Test func `The caller's ID names the result folder`() async throws {
        let result = try await bench.batch([#"{"source": "\#(try CommandBench.url("grid.jpg"))", "id": "Cat_1.a-b"}"#])
        #expect(result.manifests["Cat_1.a-b"]?.error == nil)
        #expect(try bench.leftovers().contains("out/Cat_1.a-b/attachment.jpg"))
    }

    @Test func `Passwords, signatures and header values are sent to the server but never printed`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))))
        let url = "http://anna:s3cr3t@127.0.0.1:\(server.port)/cat?X-Amz-Signature=abcdef&w=1"
        let arguments = bench.arguments("prepare", ["--header", "X-Key: tops3cr3t", url])
        let result = try await bench.command(arguments).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        let request = try #require(server.requests.first)
        #expect(request.target == "/cat?X-Amz-Signature=abcdef&w=1")
        #expect(request.headers["x-key"] == "tops3cr3t")
        #expect(request.headers["authorization"] == "Basic " + Data("anna:s3cr3t".utf8).base64EncodedString())
        #expect(manifest.source.url == "http://127.0.0.1:\(server.port)/cat?X-Amz-Signature=REDACTED&w=1")
        let printed = result.text + result.errorText
        for secret in ["s3cr3t", "abcdef", "anna"] { #expect(!printed.contains(secret)) }
    }

    @Test func `Requests that differ in a header have different results`() async throws {
        let one = try await bench.prepare(CommandBench.url("grid.jpg"), "--header", "Authorization: Bearer a")
        let two = try await bench.prepare(CommandBench.url("grid.jpg"), "--header", "Authorization: Bearer b")
        #expect(one.id != two.id)
    }

    @Test func `A changed file keeps its folder and gets another request digest`() async throws {
        let path = bench.folder.path("cat.jpg")
        try FileManager.default.copyItem(atPath: SourceTree.sample("grid.jpg"), toPath: path)
        let first = try await bench.prepare(path)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: SourceTree.sample("grid.png"), toPath: path)
        let second = try await bench.prepare(path, "--resume")
        #expect(first.id == second.id && first.requestDigest != second.requestDigest)
        #expect(second.attachment?.file == "attachment.png")
    }
}
