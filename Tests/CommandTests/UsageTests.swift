import AttachPrep
import Foundation
import TestSupport
import Testing

@testable import AttachPrepCommand

/// Exit codes: 0 success, 1 some rejected, 2 wrong usage; results are on standard output, all else on standard error.
@Suite(.timeLimit(.minutes(2))) struct ExitCodeTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    @Test func `When all sources succeed, the exit code is 0 and nothing is on standard error`() async throws {
        let result = try await bench.run("prepare", SourceTree.sample("grid.jpg"), SourceTree.sample("tone.wav"))
        #expect(result.exitCode == 0)
        #expect(result.errorText == "")
        #expect(try bench.folder.contents().contains("prepared"))
    }

    @Test func `When one source is rejected, the exit code is 1 and the others succeed`() async throws {
        let sources = ["grid.jpg", "picture.jpg", "grid.png"].map(SourceTree.sample)
        let result = try await bench.command(bench.arguments("prepare", sources)).run()
        #expect(result.exitCode == 1)
        #expect(try result.lines.map { try PrintedManifest(line: $0).outcome } == ["passed", "rejected", "passed"])
    }

    @Test(arguments: [
        ["prepare"], ["prepare", "--tint", "x"], ["frobnicate"], ["prepare", "--crop", "1,2", "x"],
        ["prepare", "--crop", "a,b,c,d", "x"], ["prepare", "--thumbnail-size", "big", "x"], ["batch"],
        ["prepare", "--budget", "soon", "x"], ["prepare", "--format", "xml", "x"], ["batch", "/nowhere/list"],
        ["prepare", "--thumbnail-fit", "stretch", "x"], ["prepare", "--concurrency", "0", "x"], ["batch", "/"],
        ["prepare", "--media-slots", "0", "x"], ["prepare", "--max-bytes", "many", "x"], ["inspect"],
        ["prepare", "--header", "no-colon", "x"], ["prepare", "--resolve", "nonsense", "x"],
        ["prepare", "--ca-file", "/nowhere.pem", "x"], ["doctor", "extra"], ["batch", "list", "more"],
        ["prepare", "--output", "", "x"], ["prepare", "--proxy", "nonsense://", "x"],
        ["batch", "--crop", "0,0,2,2", "-"], ["batch", "--report", "/", "-"],
        ["prepare", "--preview", "/nowhere/page.html", "x"], ["payload", "x", "--check", "--preview", "page.html"],
    ])
    func `Wrong usage exits with 2 and a message on standard error only`(arguments: [String]) async throws {
        let result = try await bench.command(arguments).run()
        #expect(result.exitCode == 2)
        #expect(result.text == "")
        #expect(result.errorText.contains("Usage:"), "\(result.errorText)")
        #expect(try bench.folder.contents() == ["tmp"])
    }

    @Test(arguments: [
        ["--help"], ["help"], ["prepare", "--help"], ["batch", "-h"], ["inspect", "--help"], ["doctor", "--help"], [],
    ])
    func `Help is on standard output and exits with 0`(arguments: [String]) async throws {
        let result = try await bench.command(arguments).run()
        #expect(result.exitCode == 0)
        #expect(result.text.contains("USAGE: attachprep"))
        #expect(result.errorText == "")
    }

    @Test func `A result that cannot be written exits with 1 and a message on standard error`() async throws {
        let command = RunCommand(
            "sh",
            [
                "-c", #"exec "$0" prepare "$1" --output "$2" > /dev/full"#, try BuiltBinary.attachprep(),
                SourceTree.sample("grid.jpg"), bench.folder.path("full"),
            ])
        let result = try await command.run()
        #expect(result.exitCode == 1)
        #expect(result.errorText.contains("Writing to standard output failed"))
    }

    @Test func `--version prints the version on standard output`() async throws {
        let result = try await bench.run("--version")
        #expect(result.exitCode == 0 && result.errorText == "")
        #expect(result.text.prefixMatch(of: /attachprep [0-9]+\.[0-9]+\.[0-9]+\n/) != nil)
    }

    @Test func `--version names the commit and the libraries, one on each line`() async throws {
        let lines = try await bench.run("--version").lines
        let names = Set(lines.dropFirst().compactMap { $0.split(separator: " ").first.map(String.init) })
        #expect(names.isSuperset(of: ["commit", "libcurl", "sqlite", "libpq", "libvips", "libmagic", "libavcodec"]))
        #expect(lines.allSatisfy { $0.split(separator: " ").count > 1 })
    }

    @Test func `--version works without the media program, and says that it is missing`() async throws {
        let folder = try TemporaryFolder()
        let program = folder.path("attachprep")
        try FileManager.default.copyItem(atPath: try BuiltBinary.attachprep(), toPath: program)
        let result = try await RunCommand(program, ["--version"]).run()
        #expect(result.exitCode == 0)
        #expect(result.text.hasPrefix("attachprep ") && result.text.contains("media process  not found"))
    }

    @Test func `The help of prepare lists every option`() async throws {
        let text = try await bench.run("prepare", "--help").text
        let options = [
            "output", "format", "https-only", "allow-private-network", "ca-file", "proxy", "resolve", "concurrency",
            "media-slots", "resume", "base-url",
        ]
        for option in options + AttachmentRequest.optionRows.map(\.facts.flag) {
            #expect(text.contains("--\(option)"), "--\(option)")
        }
    }

    @Test(arguments: ["prepare", "inspect", "batch"])
    func `A reader that closes the pipe early causes no error, and all sources are processed`(subcommand: String)
        async throws
    {
        let sources = ["grid.jpg", "grid.png", "grid.gif", "tone.wav", "clock.mp4"].map(SourceTree.sample)
        let list = try bench.folder.write(sources.joined(separator: "\n"), to: "list")
        let rest = subcommand == "batch" ? [list] : sources
        let output = subcommand == "inspect" ? [] : ["--output", bench.output]
        let program = try BuiltBinary.attachprep()
        let script = #"set -o pipefail; "$@" | head -c 1 | wc -c"#
        let arguments = ["-c", script, "bash", program, subcommand] + output + rest
        let result = try await RunCommand("bash", arguments, environment: ["TMPDIR": bench.folder.path("tmp")]).run()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(result.text == "1\n")
        let ready = try bench.leftovers().filter { $0.hasSuffix("manifest.json") }.count
        #expect(ready == (subcommand == "inspect" ? 0 : 5))
        #expect(try !bench.leftovers().contains { $0.contains(".attachprep-") })
    }
}

/// Suggestions for mistyped commands.
@Suite struct CommandNamesTests {
    @Test(arguments: [
        (["perpare", "x.jpg"], "prepare"), (["prep"], "prepare"), (["inspct", "--format", "json"], "inspect"),
        (["job", "list"], "jobs"), (["jobs", "lst"], "jobs list"), (["webhooks", "reply"], "webhooks replay"),
        (["SERVE"], "serve"), (["doctr"], "doctor"),
    ])
    func `A mistyped command has the closest command as its suggestion`(arguments: [String], meant: String) {
        #expect(CommandNames.suggestion(for: arguments, below: AttachPrepCommand.self) == meant)
    }

    @Test(arguments: [
        [], ["x.jpg"], ["--help"], ["prepare", "x.jpg"], ["jobs", "list"], ["help", "jobs"], ["jobs", "zzzz"],
    ])
    func `A word without a similar command has no suggestion`(arguments: [String]) {
        #expect(CommandNames.suggestion(for: arguments, below: AttachPrepCommand.self) == nil)
    }

    @Test func `The error of a mistyped command has a suggestion`() async throws {
        let result = try await RunCommand(BuiltBinary.attachprep(), ["perpare", "x.jpg"]).run()
        #expect(result.exitCode == 2)
        #expect(result.errorText.hasPrefix("Error: Unknown command 'perpare'. Did you mean 'prepare'?\n"))
    }

    @Test(arguments: [
        (["serve", "--port", "http"], "attachprep serve --help"),
        (["worker", "--queue", "postgres://127.0.0.1/queue", "--drain", "soon"], "attachprep worker --help"),
        (["jobs", "list", "--queue", "ftp://x"], "attachprep jobs list --help"),
        (["prepare", "--crop", "1,2", "x.jpg"], "attachprep prepare --help"),
    ])
    func `The error of an invalid value refers to the help of its command`(arguments: [String], help: String)
        async throws
    {
        let result = try await RunCommand(BuiltBinary.attachprep(), arguments).run()
        #expect(result.exitCode == 2 && result.errorText.contains("'\(help)'"), "\(result.errorText)")
    }
}
