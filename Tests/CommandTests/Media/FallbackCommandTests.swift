import Foundation
import TestSupport
import Testing

/// Fallbacks through the command and its sandboxed media processes: `prepare`, `batch`, `payload` and `inspect` alike.
@Suite(.timeLimit(.minutes(3))) struct FallbackCommandTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/grid.png", .body(image, type: "image/png"))
    }

    private var none: String { server.url("/none.mp4") }

    private func expectImage(_ manifest: PrintedManifest?, fallback: String? = nil) {
        #expect(manifest?.outcome == "passed", "\(manifest?.reasons ?? [])")
        let last = fallback ?? server.url("/grid.png")
        #expect(
            manifest?.source.tried == [.init(url: none, code: "source.not_found"), .init(url: last, code: nil)],
            "\(String(describing: manifest?.source.tried))")
    }

    @Test func `prepare takes the first that can be prepared`() async throws {
        let options = ["--fallback", server.url("/grid.png"), "--fallback", server.url("/other.png")]
        expectImage(try await bench.prepare(none, options: options))
    }

    @Test func `A fallback of the command may be a file`() async throws {
        expectImage(
            try await bench.prepare(none, "--fallback", SourceTree.sample("grid.png")),
            fallback: SourceTree.sample("grid.png"))
    }

    @Test func `batch takes it by an option and by a key of a line`() async throws {
        let lines = [
            "{\"source\": \"\(none)\", \"id\": \"a\"}",
            "{\"source\": \"\(none)\", \"id\": \"b\", \"fallbacks\": []}",
            "{\"source\": \"\(none)\", \"id\": \"c\", \"partial\": true}",
        ]
        let result = try await bench.batch(lines, "--fallback", server.url("/grid.png"))
        expectImage(result.manifests["a"])
        #expect(result.manifests["b"]?.error?.code == "source.not_found")
        #expect(result.errorText.isEmpty == false)
    }

    @Test func `payload replaces the media by that of the fallback`() async throws {
        let json = "{\"aps\":{\"alert\":\"x\",\"mutable-content\":1},\"attach\":\"\(none)\"}"
        let arguments = [
            "payload", "-", "--output", bench.output, "--base-url", "https://media.example", "--fallback",
            server.url("/grid.png"), "--allow-private-network",
        ]
        let result = try await bench.command(arguments, input: json).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.text.contains("public.png"), "\(result.text)")
    }

    @Test func `inspect shows the first that can be prepared`() async throws {
        let arguments = ["inspect", none, "--allow-private-network", "--format", "json", "--fallback"]
        let result = try await bench.command(arguments + [server.url("/grid.png")]).run()
        #expect(result.text.contains("\"image/png\"") && result.text.contains("\"passed\""), "\(result.text)")
    }

    @Test func `Many sources that do not exist yet do not hold up one that does`() async throws {
        let gate = Date.now.addingTimeInterval(4)
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        for number in 0..<20 {
            server.serve("/late-\(number).png") { _ in Date.now < gate ? .status(404) : .body(image, type: "image/png")
            }
        }
        let late = (0..<20).map {
            "{\"source\": \"\(server.url("/late-\($0).png"))\", \"wait\": 30, \"id\": \"l\($0)\"}"
        }
        let list = late + ["{\"source\": \"\(server.url("/grid.png"))\", \"id\": \"now\"}"]
        let began = Date.now
        let result = try await bench.batch(list, "--concurrency", "2")
        #expect(result.manifests.count == 21 && result.manifests.values.allSatisfy { $0.error == nil })
        #expect(Date.now.timeIntervalSince(began) < 30)
        // The one that is there was requested before the others were.
        let first = server.requests.first { $0.path == "/grid.png" }
        #expect(first != nil && server.requests.prefix { $0.path != "/grid.png" }.count < 200)
    }
}
