import Foundation
import TestSupport
import Testing

/// Web pages through the command and its sandboxed media processes: `prepare`, `batch`, `payload` and `inspect` alike.
@Suite(.timeLimit(.minutes(3))) struct UnfurlCommandTests {
    let bench: CommandBench
    let server: LoopbackServer
    let url: String

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/grid.png", .body(image, type: "image/png"))
        let page = "<!doctype html><html><head><meta property=og:image content='\(server.url("/grid.png"))'>"
        server.serve("/page", .body(Data(page.utf8), type: "text/html; charset=shift_jis"))
        url = server.url("/page")
    }

    private func expectImage(_ manifest: PrintedManifest?) {
        #expect(manifest?.outcome == "passed", "\(manifest?.reasons ?? [])")
        #expect(manifest?.source.page == .init(url: url, property: "og:image"))
    }

    @Test func `prepare takes the image of a page`() async throws {
        expectImage(try await bench.prepare(url, "--unfurl"))
    }

    @Test func `Without the option prepare names the image`() async throws {
        let error = try await bench.prepare(url).error
        #expect(error?.code == "media.unrecognized" && error?.message.contains(server.url("/grid.png")) == true)
    }

    @Test func `batch takes it by an option and by a key of a line`() async throws {
        let line = "{\"source\": \"\(url)\", \"id\": \"a\", \"unfurl\": true}"
        expectImage(try await bench.batch([line]).manifests["a"])
        let lines = [
            "{\"source\": \"\(url)\", \"id\": \"b\"}", "{\"source\": \"\(url)\", \"id\": \"c\", \"unfurl\": false}",
        ]
        let result = try await bench.batch(lines, "--unfurl")
        expectImage(result.manifests["b"])
        #expect(result.manifests["c"]?.error?.code == "media.unrecognized")
    }

    @Test func `payload replaces the page by its image`() async throws {
        let json = "{\"aps\":{\"alert\":\"x\",\"mutable-content\":1},\"attach\":\"\(url)\"}"
        let arguments = ["payload", "-", "--output", bench.output, "--base-url", "https://media.example", "--unfurl"]
        let result = try await bench.command(arguments + ["--allow-private-network"], input: json).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.text.contains("public.png"), "\(result.text)")
    }

    @Test func `inspect shows the page`() async throws {
        let result = try await bench.command(
            ["inspect", url, "--allow-private-network", "--format", "json", "--unfurl"]
        ).run()
        #expect(result.text.contains("\"og:image\"") && result.text.contains("\"passed\""), "\(result.text)")
    }
}
