import Foundation
import TestSupport
import Testing

/// Media processes that are not what they should be: each costs its request, never the command.
@Suite(.timeLimit(.minutes(2))) struct BrokenChildTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// Prepares a sample with a shell script in the place of attachprep-media.
    private func prepare(with script: String, _ options: String...) async throws -> PrintedManifest {
        let path = try bench.folder.write("#!/bin/sh\necho $$ >>\(bench.folder.path("pids"))\n\(script)\n", to: "media")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let words = bench.words("prepare", options + [SourceTree.sample("grid.jpg")])
        let result = try await bench.command(words, environment: ["ATTACHPREP_MEDIA": path]).run()
        #expect(result.exitCode == 1)
        return try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
    }

    /// The scripts that were started, by what they wrote down.
    private func expectNoneLeft(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let text = String(decoding: try bench.folder.bytes(of: "pids"), as: UTF8.self)
        let started = text.split(separator: "\n").compactMap { pid_t($0) }.map(ProcessFacts.init)
        #expect(!started.isEmpty, sourceLocation: sourceLocation)
        try await waitUntil("its children have ended", seconds: 10) { !started.contains { $0.isRunning } }
        #expect(try bench.leftovers() == [], sourceLocation: sourceLocation)
    }

    @Test func `One that never worked is no fault of the file: the message sends to doctor`() async throws {
        let manifest = try await prepare(with: "exit 1")
        bench.expect(manifest, rejectedAs: "internal")
        #expect(manifest.error?.message.contains("attachprep doctor") == true)
        try await expectNoneLeft()
    }

    @Test func `One that never answers is killed when the budget is over`() async throws {
        let manifest = try await prepare(with: "exec tail -f /dev/null", "--budget", "1s")
        bench.expect(manifest, rejectedAs: "deadline.exceeded")
        try await expectNoneLeft()
    }

    @Test func `One that answers nonsense is not asked again`() async throws {
        let manifest = try await prepare(with: "printf nonsense >&3; exec tail -f /dev/null")
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        try await expectNoneLeft()
    }

    @Test func `One that answers more than a message may hold`() async throws {
        let manifest = try await prepare(
            with: "head -c 140000 /dev/zero | dd bs=140000 iflag=fullblock >&3; exec tail -f /dev/null")
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        try await expectNoneLeft()
    }
}
