import Foundation
import TestSupport
import Testing

/// Files that end their media process, and what becomes of them.
@Suite(.timeLimit(.minutes(2))) struct QuarantineCommandTests {
    let bench: CommandBench

    /// Knows every file for a PNG, and dies when it has to look into it.
    private static let diesInInspection = """
        while True:
            number = hear()['number']
            if number == 2: die('SIGSEGV')
            media = {'format': 'png', 'magicMIMEType': 'image/png'}
            say(number, {'answer': {'_0': {'identified': {'_0': media}}}})
        """

    init() throws {
        bench = try CommandBench()
    }

    private func prepare(_ sources: String..., with child: ScriptedChild?) async throws -> [PrintedManifest] {
        try await bench.command(
            bench.words("prepare", sources), environment: ["ATTACHPREP_MEDIA": child?.path]
        ).run().lines.map(PrintedManifest.init(line:))
    }

    private func quarantine(_ words: String...) async throws -> CommandResult {
        try await bench.command(["quarantine"] + words).run()
    }

    private struct Row: Decodable {
        let digest, subject, ending, source: String
        let isQuarantined: Bool
        let strikes: Int
        let first, last: String
    }

    private func rows() async throws -> [Row] {
        try await quarantine("list", "--format", "json").lines.map {
            try JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
    }

    @Test(arguments: [false, true])
    func `A file that ends its process twice is refused before a third one sees it`(byURL: Bool) async throws {
        let child = try ScriptedChild(Self.diesInInspection)
        let source = byURL ? try CommandBench.url("grid.jpg") : SourceTree.sample("grid.jpg")
        let first = try #require(try await prepare(source, with: child).first)
        bench.expect(first, rejectedAs: "media.decoder_crashed")
        #expect(first.error?.retryable == true)
        let second = try #require(try await prepare(source, with: child).first)
        bench.expect(second, rejectedAs: "media.quarantined")
        #expect(second.error?.retryable == false)
        let calls = child.calls
        #expect(calls == 4)
        let third = try #require(try await prepare(source, with: child).first)
        bench.expect(third, rejectedAs: "media.quarantined")
        #expect(child.calls == calls)
        #expect(try bench.leftovers() == [])
        // Another file is worked on.
        #expect(try await prepare(SourceTree.sample("grid.png"), with: nil).first?.error == nil)
        let row = try #require(try await rows().first)
        #expect(row.subject == "content" && row.isQuarantined && row.strikes == 2 && row.source == source)
        #expect(row.ending.hasPrefix("signal 11") && row.first.hasSuffix("Z") && row.first <= row.last)
        #expect(row.digest == first.source.sha256)
    }

    @Test func `A crash at the first bytes counts as well`() async throws {
        let child = try ScriptedChild("hear(); die('SIGABRT')")
        let source = try CommandBench.url("clock.mp4")
        bench.expect(try #require(try await prepare(source, with: child).first), rejectedAs: "media.decoder_crashed")
        bench.expect(try #require(try await prepare(source, with: child).first), rejectedAs: "media.quarantined")
        let third = try #require(try await prepare(source, with: child).first)
        bench.expect(third, rejectedAs: "media.quarantined")
        #expect(child.calls == 2)
        #expect(try await rows().map(\.subject) == ["firstBytes"])
    }

    @Test func `Both may happen in one run, with others beside them`() async throws {
        let child = try ScriptedChild(Self.diesInInspection)
        let cat = SourceTree.sample("grid.jpg")
        let manifests = try await prepare(cat, cat, cat, cat, cat, with: child)
        let codes = Set(manifests.compactMap(\.error?.code))
        #expect(codes.isSubset(of: ["media.decoder_crashed", "media.quarantined"]))
        #expect(codes.contains("media.quarantined") && manifests.count == 5)
        #expect(try bench.leftovers() == [])
    }

    @Test func `A child killed at its deadline is no strike, and neither is one that could not start`() async throws {
        let hanging = try ScriptedChild("hear(); pause()")
        for _ in 0..<2 {
            let words = bench.words("prepare", ["--budget", "1s", SourceTree.sample("grid.jpg")])
            let result = try await bench.command(words, environment: ["ATTACHPREP_MEDIA": hanging.path]).run()
            bench.expect(try PrintedManifest(line: try #require(result.lines.first)), rejectedAs: "deadline.exceeded")
        }
        let broken = try ScriptedChild("sys.exit(1)", isReady: false)
        for _ in 0..<2 {
            let manifest = try #require(try await prepare(SourceTree.sample("grid.jpg"), with: broken).first)
            bench.expect(manifest, rejectedAs: "internal")
        }
        #expect(try await rows().isEmpty)
        #expect(try await quarantine("list").text == "No quarantined files.\n")
    }

    @Test func `What is lifted is tried again`() async throws {
        let child = try ScriptedChild(Self.diesInInspection)
        let source = SourceTree.sample("grid.jpg")
        for _ in 0..<2 { _ = try await prepare(source, with: child) }
        let digest = try #require(try await rows().first?.digest)
        let listed = try await quarantine("list")
        #expect(listed.text.contains(digest) && listed.text.contains("blocked"))
        let unknown = try await quarantine("lift", "ffffffffffff")
        #expect(unknown.exitCode == 1 && unknown.text == "")
        #expect(unknown.errorText.contains("ffffffffffff"))
        let lifted = try await quarantine("lift", String(digest.prefix(8)))
        #expect(lifted.exitCode == 0 && lifted.text == "\(digest) lifted.\n")
        #expect(try await prepare(source, with: nil).first?.error == nil)
        #expect(try await rows().isEmpty)
    }

    @Test func `The state folder is the one that is named`() async throws {
        let child = try ScriptedChild(Self.diesInInspection)
        let state = bench.folder.path("elsewhere")
        let words = bench.words("prepare", ["--state", state, SourceTree.sample("grid.jpg")])
        _ = try await bench.command(words, environment: ["ATTACHPREP_MEDIA": child.path]).run()
        #expect(try await rows().isEmpty)
        #expect(try await quarantine("list", "--format", "json", "--state", state).lines.count == 1)
        let lifted = try await quarantine("lift", "--all", "--state", state)
        #expect(lifted.exitCode == 0 && lifted.text == "1 lifted.\n")
        #expect(try await quarantine("list", "--format", "json", "--state", state).lines.isEmpty)
    }

    @Test func `Without any state folder requests go on`() async throws {
        let child = try ScriptedChild(Self.diesInInspection)
        let result = try await bench.command(
            bench.words("prepare", [SourceTree.sample("grid.jpg")]),
            environment: ["ATTACHPREP_MEDIA": child.path, "XDG_STATE_HOME": "/dev/null/state"]
        ).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        #expect(result.errorText.contains("state folder"))
    }

    @Test func `Wrong usage is 2`() async throws {
        #expect(try await quarantine("lift").exitCode == 2)
        #expect(try await quarantine("lift", "--all", "aa").exitCode == 2)
        #expect(try await quarantine("list", "--state", "").exitCode == 2)
    }
}
