import Foundation
import TestSupport
import Testing

/// Sources that are paths or file URLs, with unusual names.
@Suite(.timeLimit(.minutes(2))) struct LocalSourceTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func copySample(to name: String) throws {
        try FileManager.default.copyItem(atPath: SourceTree.sample("grid.jpg"), toPath: bench.folder.path(name))
    }

    @Test(arguments: [
        "cat.jpg", "no extension", "grüße 日本.jpg", "line\nbreak.jpg", "100%.jpg", "a:b.jpg", "ftp-like.jpg", "'q\".jpg",
    ])
    func `A relative path is a source`(name: String) async throws {
        try copySample(to: name)
        let manifest = try await bench.prepare(name)
        #expect(manifest.outcome == "passed")
        #expect(manifest.source.url == name)
        #expect(manifest.source.declaredMIMEType == nil && manifest.source.finalURL == nil)
    }

    @Test func `A path that begins with a dash can follow --`() async throws {
        try copySample(to: "-cat.jpg")
        let result = try await bench.command(bench.arguments("prepare", ["--", "-cat.jpg"])).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
    }

    @Test(arguments: ["file://", "file://localhost", "file:", "FILE://"])
    func `A file URL is a source`(prefix: String) async throws {
        try copySample(to: "a cät.jpg")
        let path = bench.folder.path("a%20c%C3%A4t.jpg")
        #expect(try await bench.prepare(prefix + path).outcome == "passed")
    }

    @Test(arguments: ["file://other.example/cat.jpg", "file:cat.jpg", "file:///cat%zz.jpg", "file:///cat%00.jpg", ""])
    func `A file URL of another machine or without a path is source.invalid_url`(source: String) async throws {
        try await bench.expectRejection("source.invalid_url", of: source)
    }

    @Test(arguments: ["nowhere.jpg", "tmp/nowhere/cat.jpg", "file:///nowhere/cat.jpg"])
    func `A missing file is source.not_found`(source: String) async throws {
        try await bench.expectRejection("source.not_found", of: source)
    }

    @Test(arguments: ["tmp", "/dev/null", "pipe"])
    func `A folder, device or pipe is source.not_a_file, without waiting for the pipe`(source: String) async throws {
        #expect(mkfifo(bench.folder.path("pipe"), 0o600) == 0)
        try await bench.expectRejection("source.not_a_file", of: source)
    }

    @Test func `The error for a folder says how to prepare its files`() async throws {
        try copySample(to: "tmp/one.jpg")
        let result = try await bench.run("prepare", "--output", bench.output, "tmp")
        #expect(result.text.contains("tmp is a folder; name its files, or list them for attachprep batch"))
    }

    @Test func `Control characters of a file name are escaped in text and kept in JSON`() async throws {
        let name = "\u{1B}[31mred\u{202E}\u{7}\u{9B}.jpg"
        try copySample(to: name)
        let result = try await bench.run("prepare", "--output", bench.output, name)
        #expect(result.exitCode == 0)
        #expect(result.lines.first?.hasPrefix(#"\u{1b}[31mred\u{202e}\u{7}\u{9b}.jpg  passed"#) == true)
        #expect(!result.text.unicodeScalars.contains { $0.value < 32 && $0 != "\n" || $0.value == 0x202E })
        #expect(try await bench.prepare(name).source.url == name)
    }
}
