import Foundation
import TestSupport
import Testing

/// `batch`: many requests from a list; failures do not stop it, flags are defaults, and a summary ends it.
@Suite(.timeLimit(.minutes(2))) struct BatchTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        try server.serve(folder: URL(filePath: SourceTree.path("samples/media"), directoryHint: .isDirectory))
    }

    private func text(_ options: String...) async throws -> CommandResult {
        try await bench.command(["batch", "--output", bench.output, "--allow-private-network"] + options).run()
    }

    @Test func `A list may mix sources, requests, comments and blank lines`() async throws {
        let result = try await bench.batch([
            "\u{FEFF}# a comment", "", server.url("/grid.jpg"), "   ", "  \(server.url("/grid.png"))\t\r",
            "  {\"source\": \"\(server.url("/grid.gif"))\", \"id\": \"gif\"}  ", "# the end",
            SourceTree.sample("tone.wav"),
        ])
        #expect(result.exitCode == 0, "\(result.errorText)")
        let sources = Set(result.manifests.values.map(\.source.url))
        #expect(
            sources
                == Set(
                    ["/grid.jpg", "/grid.png", "/grid.gif"].map { server.url($0) } + [SourceTree.sample("tone.wav")]))
        #expect(result.manifests["gif"]?.attachment?.mimeType == "image/gif")
    }

    @Test func `A line over the limit is rejected, and the lines beside it are prepared`() async throws {
        let endless = String(repeating: "a", count: 5_000_000)
        let list = try bench.folder.write("\(endless)\r\n\(server.url("/grid.jpg"))\r\n{\(endless)", to: "list")
        let result = try await bench.command(bench.arguments("batch", [list])).run()
        #expect(result.exitCode == 1 && result.lines.count == 3, "\(result.text.prefix(2_000))")
        #expect(result.text.contains("Line 1 of the list exceeds 65536 bytes"), "\(result.text.prefix(2_000))")
        #expect(result.text.contains("Line 3 of the list exceeds 65536 bytes"))
    }

    @Test func `A list may end without a line feed, and may be empty`() async throws {
        let list = try bench.folder.write(server.url("/grid.jpg"), to: "list")
        #expect(try await bench.command(bench.arguments("batch", [list])).run().lines.count == 1)
        let empty = try await bench.command(bench.arguments("batch", ["-"])).run()
        #expect(empty.exitCode == 0 && empty.text == "")
    }

    @Test func `The list can come from standard input`() async throws {
        let input = "\(server.url("/grid.jpg"))\n\(server.url("/tone.wav"))\n"
        let result = try await bench.command(bench.arguments("batch", ["-"]), input: input).run()
        #expect(result.exitCode == 0)
        #expect(try result.lines.map { try PrintedManifest(line: $0).outcome } == ["passed", "passed"])
    }

    @Test func `Media in place of the list is an error that names the command for it`() async throws {
        let movie = try bench.folder.write([0x1A, 0x45, 0xDF, 0xA3, 10, 0, 65, 10, 66], to: "movie.webm")
        let result = try await bench.command(bench.arguments("batch", [movie])).run()
        #expect(result.exitCode == 2 && result.text == "")
        #expect(result.errorText.contains("is not text; to prepare the file itself, use attachprep prepare."))
    }

    @Test func `A line with a key that occurs twice is rejected by its number`() async throws {
        let url = server.url("/grid.jpg")
        let result = try await bench.batch([url, #"{"source": "\#(url)", "source": "\#(url)"}"#])
        #expect(result.exitCode == 1)
        let message = result.manifests.values.compactMap(\.error?.message).first ?? ""
        #expect(message.hasPrefix("Line 2 of the list: The request has the key \"source\" twice"), "\(message)")
    }

    @Test func `A line without end from a pipe is an error as soon as it is over the limit`() async throws {
        let script = #"yes a | tr -d '\n' | "$0" batch -"#
        let attachprep = try bench.command([]).program
        let result = try await RunCommand("/bin/sh", ["-c", script, attachprep], folder: bench.folder.path).run()
        #expect(result.exitCode == 2 && result.text == "")
        #expect(result.errorText.contains("Line 1 of the list - is over the limit of 10,000,000 bytes"))
    }

    @Test(arguments: [("list", ["batch"]), ("payload", ["payload", "--check"])])
    func `A list over the limit is rejected, not read in part`(name: String, command: [String]) async throws {
        let path = try bench.folder.write([10], to: "large")
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        for offset in stride(from: UInt64(5_000_000), to: 256_000_000, by: 5_000_000) {
            try file.seek(toOffset: offset)
            try file.write(contentsOf: [10])
        }
        try file.truncate(atOffset: 256_000_001)
        let result = try await bench.command(command + [path]).run()
        #expect(result.exitCode == 2 && result.text == "")
        #expect(result.errorText.contains("The \(name) \(path) is over the limit of 256,000,000 bytes; split it"))
    }

    @Test func `A batch continues after failures and exits with 1`() async throws {
        let result = try await bench.batch([
            server.url("/nowhere.jpg"), server.url("/picture.jpg"), "{", server.url("/grid.jpg"), "ftp://a/b",
            server.url("/grid.png"),
        ])
        #expect(result.exitCode == 1)
        #expect(result.manifests.values.filter { $0.error == nil }.count == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.output).count == 2)
    }

    @Test func `Manifests are printed one per line, as soon as they are finished`() async throws {
        let gate = LoopbackGate()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        server.serve("/slow", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        let list = try bench.folder.write("\(server.url("/slow"))\n\(server.url("/grid.jpg"))\n", to: "list")
        let running = try bench.command(bench.arguments("batch", [list])).start()
        try await waitUntil("the second line is printed") {
            (try? running.textSoFar().hasSuffix("}\n")) == true
        } then: {
            gate.open()
        }
        let sources = try await running.result().lines.map { try PrintedManifest(line: $0).source.url }
        #expect(sources == [server.url("/grid.jpg"), server.url("/slow")])
    }

    @Test func `The summary is on standard error, and one row per result on standard output`() async throws {
        let list = try bench.folder.write(
            ["/grid.jpg", "/grid.webp", "/clock.mp4", "/picture.jpg"].map { server.url($0) }.joined(separator: "\n"),
            to: "list")
        let result = try await text(list)
        #expect(result.lines.count == 4)
        #expect(
            result.lines.contains { $0.hasPrefix("passed      clock.mp4 ") && $0.contains("/attachment.mp4 42,754") })
        #expect(
            result.lines.contains { $0.hasPrefix("rejected    picture.jpg ") && $0.contains("media.unrecognized: ") })
        let summary = result.errorText
        #expect(summary.contains(/passed +converted +shrunk +bestAttempt +rejected\n/))
        #expect(summary.contains(/image +1 +1 +0 +0 +0\n/) && summary.contains(/movie +1 +0 +0 +0 +0\n/))
        #expect(summary.contains(/4 of 4 in [0-9.]+ s \([0-9.]+\/s\), [0-9,]+ bytes in, [0-9,]+ out, 1 rejected/))
        #expect(summary.contains("rejected: media.unrecognized 1\n"))
        #expect(!summary.contains("\r") && !summary.contains("\u{1B}"))
    }

    @Test func `Flags are defaults for lines that do not set the option`() async throws {
        let url = server.url("/grid.jpg")
        let result = try await bench.batch(
            [
                #"{"source": "\#(url)", "id": "default"}"#,
                #"{"source": "\#(url)", "id": "own", "options": {"thumbnailSize": {"width": 40, "height": 40}}}"#,
            ], "--thumbnail-size", "80x80", "--hide-thumbnail", "--crop", "0,0,0.5,1", "--header", "X-Who: me")
        #expect(result.manifests["default"]?.thumbnail?.height == 80)
        #expect(result.manifests["own"]?.thumbnail?.height == 40)
        for manifest in result.manifests.values {
            #expect(manifest.options?.thumbnailHidden == true && manifest.crop?.width == 400)
        }
        #expect(server.requests.allSatisfy { $0.headers["x-who"] == "me" })
    }

    @Test func `A line overrides a flag`() async throws {
        let line = #"{"source": "\#(server.url("/grid.jpg"))", "id": "cat", "maxBytes": 60000, "oversize": "shrink"}"#
        let result = try await bench.batch([line], "--max-bytes", "100", "--oversize", "reject")
        #expect(result.manifests["cat"]?.outcome == "passed")
    }

    @Test func `--concurrency limits the number of requests in flight`() async throws {
        let answered = LoopbackGate()
        for number in 0..<6 { server.serve("/wait-\(number)", LoopbackResponse([.wait(answered), .close])) }
        let list = try bench.folder.write((0..<6).map { server.url("/wait-\($0)") }.joined(separator: "\n"), to: "list")
        let arguments = bench.arguments("batch", ["--concurrency", "2", "--budget", "20s", list])
        let running = try bench.command(arguments).start()
        await server.until { $0.requests.count >= 2 }
        running.send(SIGKILL)
        _ = try await running.result()
        // On a busy machine one of them may have been requested twice by then.
        #expect(Set(server.requests.map(\.path)).count == 2)
        answered.open()
    }
}
