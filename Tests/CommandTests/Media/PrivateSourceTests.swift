import Foundation
import TestSupport
import Testing

/// Sources that take credentials or a key: netrc files and encrypted attachments of Matrix.
@Suite(.timeLimit(.minutes(3))) struct PrivateSourceTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
    }

    @Test func `A netrc file gives credentials to its host only`() async throws {
        let other = try LoopbackServer(address: "127.0.0.2")
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        other.serve("/grid.png", .body(image, type: "image/png"))
        server.serve("/grid.png", .body(image, type: "image/png"))
        server.serve("/away", .status(302, ["Location": other.url("/grid.png")]))
        let netrc = try bench.folder.write("machine 127.0.0.1 login u password p\n", to: "netrc")
        let lines = [
            "{\"source\": \"\(server.url("/grid.png"))\", \"id\": \"a\"}",
            "{\"source\": \"\(server.url("/away"))\", \"id\": \"b\"}",
            "{\"source\": \"\(other.url("/grid.png"))\", \"id\": \"c\"}",
        ]
        let result = try await bench.batch(lines, "--netrc-file", netrc)
        #expect(["a", "b", "c"].allSatisfy { result.manifests[$0]?.outcome == "passed" })
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == "Basic dTpw" })
        #expect(!other.requests.isEmpty && other.requests.allSatisfy { $0.headers["authorization"] == nil })
    }

    @Test func `An encrypted attachment of Matrix is decrypted`() async throws {
        // The second published test vector's key and counter; the plain file is not media.
        let encrypted = try #require(Data(base64Encoded: "5xJZTt5cQicm+9f4"))
        server.serve("/file", .body(encrypted))
        let file = """
            {"v": "v2", "iv": "//////////8AAAAAAAAAAA", "hashes": {"sha256":
             "YzF08lARDdOCzJpzuSwsjTNlQc4pHxpdHcXiD/wpK6k"}, "key": {"kty": "oct", "alg": "A256CTR", "key_ops":
             ["decrypt"], "ext": true, "k": "__________________________________________8"}}
            """
        let line = "{\"source\": \"\(server.url("/file"))\", \"id\": \"a\", \"matrix\": {\"file\": \(file)}}"
        let result = try await bench.batch([line.replacing("\n", with: " ")])
        #expect(result.manifests["a"]?.error?.message.contains("text/plain") == true, "\(result)")
        let path = try bench.folder.write(file, to: "file.json")
        let manifest = try await bench.prepare(server.url("/file"), "--matrix-file", path)
        #expect(manifest.error?.message.contains("text/plain") == true)
        server.serve("/file", .body(encrypted + [0]))
        let other = try await bench.prepare(server.url("/file"), "--matrix-file", path)
        #expect(other.error?.code == "media.corrupt" && other.error?.message.contains("SHA-256") == true)
    }
}
