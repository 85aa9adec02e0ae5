import Foundation
import TestSupport
import Testing

/// Media processes that do not start, hang or send invalid messages: each fails its request, never the command.
@Suite(.timeLimit(.minutes(2))) struct BrokenMediaProcessTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// Prepares a sample with a shell script instead of `attachprep-media`.
    private func prepare(with script: String, _ options: String...) async throws -> PrintedManifest {
        let path = try bench.folder.write("#!/bin/sh\necho $$ >>\(bench.folder.path("pids"))\n\(script)\n", to: "media")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let arguments = bench.arguments("prepare", options + [SourceTree.sample("grid.jpg")])
        let result = try await bench.command(arguments, environment: ["ATTACHPREP_MEDIA": path]).run()
        #expect(result.exitCode == 1)
        return try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
    }

    /// Expects that all started scripts have ended, by their recorded process IDs.
    private func expectAllEnded(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let text = String(decoding: try bench.folder.bytes(of: "pids"), as: UTF8.self)
        let started = text.split(separator: "\n").compactMap { pid_t($0) }.map(ProcessStatus.init)
        #expect(!started.isEmpty, sourceLocation: sourceLocation)
        try await waitUntil("the scripts have ended", seconds: 10) { !started.contains { $0.isRunning } }
        #expect(try bench.leftovers() == [], sourceLocation: sourceLocation)
    }

    @Test func `A media process that never starts is an internal error that refers to doctor`() async throws {
        let manifest = try await prepare(with: "exit 1")
        bench.expect(manifest, rejectedAs: "internal")
        #expect(manifest.error?.message.contains("attachprep doctor") == true)
        try await expectAllEnded()
    }

    @Test func `A media process that never responds is killed when the budget is used up`() async throws {
        let manifest = try await prepare(with: "exec tail -f /dev/null", "--budget", "1s")
        bench.expect(manifest, rejectedAs: "deadline.exceeded")
        try await expectAllEnded()
    }

    @Test func `A media process that sends an invalid message is ended, and its request fails`() async throws {
        let manifest = try await prepare(with: "printf nonsense >&3; exec tail -f /dev/null")
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        try await expectAllEnded()
    }

    @Test func `A media process that sends an oversized message is ended, and its request fails`() async throws {
        let manifest = try await prepare(
            with: "head -c 140000 /dev/zero | dd bs=140000 iflag=fullblock >&3; exec tail -f /dev/null")
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        try await expectAllEnded()
    }
}
