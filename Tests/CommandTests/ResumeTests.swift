import Foundation
import TestSupport
import Testing

/// `--resume` skips finished results and retries failures, as counted by the requests that the server received.
@Suite(.timeLimit(.minutes(2))) struct ResumeTests {
    let bench: CommandBench
    let server: LoopbackServer

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        try server.serve(folder: URL(filePath: SourceTree.path("samples/media"), directoryHint: .isDirectory))
    }

    @Test func `Finished sources are skipped, and failed ones are tried again`() async throws {
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/later.png", inTurn: [.status(404), .body(image)])
        let lines = ["/grid.jpg", "/tone.wav", "/later.png"].map { server.url($0) }
        let first = try await bench.batch(lines)
        #expect(first.exitCode == 1)
        let second = try await bench.batch(lines, "--resume")
        #expect(second.exitCode == 0, "\(second.errorText)")
        #expect(second.manifests.count == 3)
        #expect(second.errorText.contains("2 skipped"))
        #expect(server.requests(to: "/grid.jpg").count == 1 && server.requests(to: "/tone.wav").count == 1)
        #expect(server.requests(to: "/later.png").count == 2)
    }

    @Test func `Without --resume, all sources are prepared again`() async throws {
        _ = try await bench.batch([server.url("/grid.jpg")])
        _ = try await bench.batch([server.url("/grid.jpg")])
        #expect(server.requests.count == 2)
    }

    @Test func `A skipped source prints its existing manifest`() async throws {
        let first = try await bench.prepare(server.url("/grid.webp"))
        let second = try await bench.prepare(server.url("/grid.webp"), "--resume")
        #expect(first == second)
        #expect(server.requests.count == 1)
    }

    @Test func `Control characters of an edited manifest do not reach the terminal`() async throws {
        let manifest = try await bench.prepare(server.url("/grid.jpg"))
        let path = bench.path(manifest, "manifest.json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let name = "attachment\u{7F}\u{9B}.jpg"
        try text.replacing("attachment.jpg", with: name).write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(
            atPath: bench.path(manifest, "attachment.jpg"), toPath: bench.path(manifest, name))
        let arguments = [
            "prepare", "--output", bench.output, "--allow-private-network", "--resume", server.url("/grid.jpg"),
        ]
        let shown = try await bench.command(arguments).run().text
        #expect(shown.contains(#"attachment\u{7f}\u{9b}.jpg"#), "\(shown)")
        #expect(!shown.unicodeScalars.contains("\u{7F}"))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["attachment.jpg", "thumbnail.jpg", "manifest.json"])
    func `A result with a missing file is prepared again`(file: String) async throws {
        let manifest = try await bench.prepare(server.url("/grid.jpg"))
        try FileManager.default.removeItem(atPath: bench.path(manifest, file))
        if file == "manifest.json" {
            try FileManager.default.removeItem(atPath: "\(bench.output)/\(manifest.id)")
        }
        #expect(try await bench.prepare(server.url("/grid.jpg"), "--resume").error == nil)
        #expect(FileManager.default.fileExists(atPath: bench.path(manifest, file)))
        #expect(server.requests.count == 2)
    }

    @Test func `The same ID with another request is prepared again`() async throws {
        let line = { (name: String) in #"{"source": "\#(server.url(name))", "id": "cat"}"# }
        _ = try await bench.batch([line("/grid.jpg")])
        let second = try await bench.batch([line("/grid.png")], "--resume")
        #expect(second.manifests["cat"]?.attachment?.file == "attachment.png")
        #expect(
            try bench.leftovers().filter { $0.hasPrefix("out/cat/") }.sorted() == [
                "out/cat/attachment.png", "out/cat/manifest.json", "out/cat/thumbnail.jpg",
            ])
    }

    @Test func `An existing result is replaced atomically`() async throws {
        let line = { (name: String) in #"{"source": "\#(SourceTree.sample(name))", "id": "cat"}"# }
        _ = try await bench.batch([line("grid.jpg")])
        let watch = ReplacementWatch(path: "\(bench.output)/cat/manifest.json")
        for name in ["grid.png", "grid.jpg", "grid.png"] { _ = try await bench.batch([line(name)]) }
        let (missing, seen) = watch.end()
        #expect(missing == 0)
        #expect(seen.count >= 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.output) == ["cat"])
    }

    @Test func `Concurrent runs into one output folder do not interfere`() async throws {
        let lines = (0..<6).map { #"{"source": "\#(SourceTree.sample("grid.jpg"))", "id": "cat-\#($0 % 2)"}"# }
        let results = try await withThrowingTaskGroup(of: CommandBench.BatchResult.self) { group in
            for _ in 0..<4 { group.addTask { try await bench.batch(lines) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for result in results {
            #expect(result.exitCode == 0, "\(result.manifests.values.compactMap(\.error))")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.output).sorted() == ["cat-0", "cat-1"])
    }
}

/// Polls a file on its own thread, counts how often it is missing, and collects its inodes.
private final class ReplacementWatch: @unchecked Sendable {
    // Locked by `lock`.
    private var isOver = false
    private var missing = 0
    private var seen: Set<UInt64> = []
    private let lock = NSLock()
    private let ended = DispatchSemaphore(value: 0)

    init(path: String) {
        Thread.detachNewThread { [self] in
            while lock.withLock({ !isOver }) {
                var status = stat()
                let exists = stat(path, &status) == 0
                lock.withLock {
                    if exists { seen.insert(UInt64(status.st_ino)) } else { missing += 1 }
                }
            }
            ended.signal()
        }
    }

    /// How often the file was missing, and the inodes that were found at its path.
    func end() -> (missing: Int, seen: Set<UInt64>) {
        lock.withLock { isOver = true }
        ended.wait()
        return (missing, seen)
    }
}
