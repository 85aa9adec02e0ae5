import Foundation
import TestSupport
import Testing

/// Where a result stands, and what is never told.
@Suite(.timeLimit(.minutes(2))) struct IdentityTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    @Test func `The same request lands in the same place`() async throws {
        let first = try await bench.prepare(CommandBench.url("grid.jpg"))
        let again = try await bench.prepare(CommandBench.url("grid.jpg"), "--budget", "50s")
        #expect(first.id == again.id && first.requestDigest == again.requestDigest)
        #expect(try bench.leftovers().filter { $0.hasSuffix("manifest.json") }.count == 1)
    }

    @Test func `Another option is another result beside it`() async throws {
        let first = try await bench.prepare(CommandBench.url("grid.jpg"))
        let other = try await bench.prepare(CommandBench.url("grid.jpg"), "--thumbnail-size", "100x100")
        #expect(first.id != other.id && first.requestDigest != other.requestDigest)
        #expect(try bench.leftovers().filter { $0.hasSuffix("manifest.json") }.count == 2)
    }

    @Test func `The caller's id names the folder`() async throws {
        let result = try await bench.batch([#"{"source": "\#(try CommandBench.url("grid.jpg"))", "id": "Cat_1.a-b"}"#])
        #expect(result.manifests["Cat_1.a-b"]?.error == nil)
        #expect(try bench.leftovers().contains("out/Cat_1.a-b/attachment.jpg"))
    }

    @Test func `Password and signature are used and never told`() async throws {
        let server = try LoopbackServer()
        server.serve("/cat", .body(try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))))
        let url = "http://anna:s3cr3t@127.0.0.1:\(server.port)/cat?X-Amz-Signature=abcdef&w=1"
        let words = bench.words("prepare", ["--header", "X-Key: tops3cr3t", url])
        let result = try await bench.command(words).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        let request = try #require(server.requests.first)
        #expect(request.target == "/cat?X-Amz-Signature=abcdef&w=1")
        #expect(request.headers["x-key"] == "tops3cr3t")
        #expect(request.headers["authorization"] == "Basic " + Data("anna:s3cr3t".utf8).base64EncodedString())
        #expect(manifest.source.url == "http://127.0.0.1:\(server.port)/cat?X-Amz-Signature=REDACTED&w=1")
        let told = result.text + result.errorText
        for secret in ["s3cr3t", "abcdef", "anna"] { #expect(!told.contains(secret)) }
    }

    @Test func `Headers are part of what makes two requests the same`() async throws {
        let one = try await bench.prepare(CommandBench.url("grid.jpg"), "--header", "Authorization: Bearer a")
        let two = try await bench.prepare(CommandBench.url("grid.jpg"), "--header", "Authorization: Bearer b")
        #expect(one.id != two.id)
    }

    @Test func `A file that is changed is another request at the same place`() async throws {
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
