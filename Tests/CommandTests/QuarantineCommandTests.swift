import Foundation
import TestSupport
import Testing

/// `attachprep quarantine`, and files that crash their media process.
@Suite(.timeLimit(.minutes(2))) struct QuarantineCommandTests {
    let bench: CommandBench

    /// Crashes at its first call, which inspects the file if that has a signature.
    private static let crashesInInspection = "receive(); die('SIGSEGV')"

    init() throws {
        bench = try CommandBench()
    }

    private func prepare(
        _ sources: String..., with mediaProcess: ScriptedMediaProcess?
    ) async throws -> [PrintedManifest] {
        try await bench.command(
            bench.arguments("prepare", sources), environment: ["ATTACHPREP_MEDIA": mediaProcess?.path]
        ).run().lines.map(PrintedManifest.init(line:))
    }

    private func quarantine(_ arguments: String...) async throws -> CommandResult {
        try await bench.command(["quarantine"] + arguments).run()
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
    func `A file that crashes two media processes is rejected before it reaches a third`(byURL: Bool) async throws {
        let mediaProcess = try ScriptedMediaProcess(Self.crashesInInspection)
        let source = byURL ? try CommandBench.url("grid.jpg") : SourceTree.sample("grid.jpg")
        let first = try #require(try await prepare(source, with: mediaProcess).first)
        bench.expect(first, rejectedAs: "media.decoder_crashed")
        #expect(first.error?.retryable == true)
        let second = try #require(try await prepare(source, with: mediaProcess).first)
        bench.expect(second, rejectedAs: "media.quarantined")
        #expect(second.error?.retryable == false)
        let calls = mediaProcess.calls
        #expect(calls == 2)
        let third = try #require(try await prepare(source, with: mediaProcess).first)
        bench.expect(third, rejectedAs: "media.quarantined")
        #expect(mediaProcess.calls == calls)
        #expect(try bench.leftovers() == [])
        // Another file is prepared.
        #expect(try await prepare(SourceTree.sample("grid.png"), with: nil).first?.error == nil)
        let row = try #require(try await rows().first)
        #expect(row.subject == "content" && row.isQuarantined && row.strikes == 2 && row.source == source)
        #expect(row.ending.hasPrefix("signal 11") && row.first.hasSuffix("Z") && row.first <= row.last)
        #expect(row.digest == first.source.sha256)
    }

    @Test func `A drawing that takes too long ends its media process after 2 s, and is blocked the second time`()
        async throws
    {
        let noise = "<filter id='f'><feTurbulence baseFrequency='0.5' numOctaves='9000'/></filter>"
        let drawing =
            "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='900'>\(noise)"
            + "<rect width='900' height='900' filter='url(#f)'/></svg>"
        let source = try bench.folder.write(Array(drawing.utf8), to: "noise.svg")
        let start = ContinuousClock.now
        let first = try #require(try await prepare(source, with: nil).first)
        bench.expect(first, rejectedAs: "media.too_complex")
        #expect(start.duration(to: .now) < .seconds(15))
        #expect(try await prepare(source, with: nil).first?.error?.code == "media.quarantined")
        #expect(try await rows().first?.strikes == 2)
    }

    @Test func `A drawing that takes longer than a short budget is no strike`() async throws {
        let noise = "<filter id='f'><feTurbulence baseFrequency='0.5' numOctaves='900000'/></filter>"
        let drawing =
            "<svg xmlns='http://www.w3.org/2000/svg' width='900' height='900'>\(noise)"
            + "<rect width='900' height='900' filter='url(#f)'/></svg>"
        let source = try bench.folder.write(Array(drawing.utf8), to: "noise.svg")
        for _ in 0..<2 {
            let result = try await bench.command(bench.arguments("prepare", ["--budget", "700ms", source])).run()
            bench.expect(try PrintedManifest(line: try #require(result.lines.first)), rejectedAs: "deadline.exceeded")
        }
        #expect(try await rows().isEmpty)
    }

    @Test func `A transport stream of 80,000 programs takes the processor time of its bytes, and is a strike`()
        async throws
    {
        let source = try bench.folder.write(ProgramTable.transportStream(programs: 80_000), to: "programs.ts")
        let result = try await bench.command(bench.arguments("prepare", ["--budget", "120s", source])).run()
        bench.expect(try PrintedManifest(line: try #require(result.lines.first)), rejectedAs: "media.too_complex")
        let row = try #require(try await rows().first)
        #expect(row.strikes == 1 && row.ending.hasPrefix("signal 24"))
    }

    @Test(arguments: ["one-color.jp2", "one-color.jxl"])
    func `An image of one color and 10,900 or 7,000 pixels a side in a few bytes stays within its processor time`(
        file: String
    ) async throws {
        let source =
            file.hasSuffix("jp2")
            ? try bench.folder.write(OneColor.jpeg2000, to: file) : try await OneColor.jpegXL(in: bench.folder)
        let result = try await bench.command(bench.arguments("prepare", ["--budget", "120s", source])).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        // On a busy machine, the image is reduced.
        #expect(manifest.error == nil && ["converted", "bestAttempt"].contains(manifest.outcome))
    }

    @Test func `A crash during identification of the first bytes counts as a strike`() async throws {
        let mediaProcess = try ScriptedMediaProcess("receive(); die('SIGABRT')")
        // A page without a signature, which libmagic identifies.
        let source = try CommandBench.url("picture.jpg")
        let first = try #require(try await prepare(source, with: mediaProcess).first)
        bench.expect(first, rejectedAs: "media.decoder_crashed")
        let second = try #require(try await prepare(source, with: mediaProcess).first)
        bench.expect(second, rejectedAs: "media.quarantined")
        let third = try #require(try await prepare(source, with: mediaProcess).first)
        bench.expect(third, rejectedAs: "media.quarantined")
        #expect(mediaProcess.calls == 2)
        #expect(try await rows().map(\.subject) == ["firstBytes"])
    }

    @Test func `Crashes and quarantine can occur in one run, for concurrent requests`() async throws {
        let mediaProcess = try ScriptedMediaProcess(Self.crashesInInspection)
        let cat = SourceTree.sample("grid.jpg")
        let manifests = try await prepare(cat, cat, cat, cat, cat, with: mediaProcess)
        let codes = Set(manifests.compactMap(\.error?.code))
        #expect(codes.isSubset(of: ["media.decoder_crashed", "media.quarantined"]))
        #expect(codes.contains("media.quarantined") && manifests.count == 5)
        #expect(try bench.leftovers() == [])
    }

    @Test func `A media process killed at its deadline, or that cannot start, is no strike`() async throws {
        let hanging = try ScriptedMediaProcess("receive(); pause()")
        for _ in 0..<2 {
            let arguments = bench.arguments("prepare", ["--budget", "1s", SourceTree.sample("grid.jpg")])
            let result = try await bench.command(arguments, environment: ["ATTACHPREP_MEDIA": hanging.path]).run()
            bench.expect(try PrintedManifest(line: try #require(result.lines.first)), rejectedAs: "deadline.exceeded")
        }
        let broken = try ScriptedMediaProcess("sys.exit(1)", isReady: false)
        for _ in 0..<2 {
            let manifest = try #require(try await prepare(SourceTree.sample("grid.jpg"), with: broken).first)
            bench.expect(manifest, rejectedAs: "internal")
        }
        #expect(try await rows().isEmpty)
        #expect(try await quarantine("list").text == "No quarantined files.\n")
    }

    @Test func `A file lifted from quarantine is tried again`() async throws {
        let mediaProcess = try ScriptedMediaProcess(Self.crashesInInspection)
        let source = SourceTree.sample("grid.jpg")
        for _ in 0..<2 { _ = try await prepare(source, with: mediaProcess) }
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

    @Test func `--data sets the folder of the quarantine`() async throws {
        let mediaProcess = try ScriptedMediaProcess(Self.crashesInInspection)
        let state = bench.folder.path("elsewhere")
        let arguments = bench.arguments("prepare", ["--data", state, SourceTree.sample("grid.jpg")])
        _ = try await bench.command(arguments, environment: ["ATTACHPREP_MEDIA": mediaProcess.path]).run()
        #expect(try await rows().isEmpty)
        #expect(try await quarantine("list", "--format", "json", "--data", state).lines.count == 1)
        let lifted = try await quarantine("lift", "--all", "--data", state)
        #expect(lifted.exitCode == 0 && lifted.text == "1 lifted.\n")
        #expect(try await quarantine("list", "--format", "json", "--data", state).lines.isEmpty)
    }

    @Test func `Requests are processed although the data folder cannot be used`() async throws {
        let mediaProcess = try ScriptedMediaProcess(Self.crashesInInspection)
        let result = try await bench.command(
            bench.arguments("prepare", [SourceTree.sample("grid.jpg")]),
            environment: ["ATTACHPREP_MEDIA": mediaProcess.path, "XDG_STATE_HOME": "/dev/null/state"]
        ).run()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        #expect(result.errorText.contains("data folder"))
    }

    @Test func `Wrong usage of quarantine exits with 2`() async throws {
        #expect(try await quarantine("lift").exitCode == 2)
        #expect(try await quarantine("lift", "--all", "aa").exitCode == 2)
        #expect(try await quarantine("list", "--data", "").exitCode == 2)
    }
}
