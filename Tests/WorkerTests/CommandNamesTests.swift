import TestSupport
import Testing

@testable import AttachPrepCommand

/// What a mistyped command is told.
@Suite struct CommandNamesTests {
    @Test(arguments: [
        (["perpare", "x.jpg"], "prepare"), (["prep"], "prepare"), (["inspct", "--format", "json"], "inspect"),
        (["job", "list"], "jobs"), (["jobs", "lst"], "jobs list"), (["webhooks", "reply"], "webhooks replay"),
        (["SERVE"], "serve"), (["doctr"], "doctor"),
    ])
    func `A command that is nearly one is named`(words: [String], meant: String) {
        #expect(CommandNames.suggestion(for: words, below: AttachPrepCommand.self) == meant)
    }

    @Test(arguments: [
        [], ["x.jpg"], ["--help"], ["prepare", "x.jpg"], ["jobs", "list"], ["help", "jobs"], ["jobs", "zzzz"],
    ])
    func `Nothing is guessed where nothing is near`(words: [String]) {
        #expect(CommandNames.suggestion(for: words, below: AttachPrepCommand.self) == nil)
    }

    @Test(arguments: [("", "", 0), ("a", "", 1), ("serve", "serev", 1), ("serve", "worker", 4), ("jobs", "job", 1)])
    func `Letters are added, removed, changed and swapped`(one: String, other: String, changes: Int) {
        #expect(CommandNames.distance(one, other) == changes)
    }

    @Test func `A mistyped command is told what was meant`() async throws {
        let result = try await RunCommand(BuiltBinary.attachprep(), ["perpare", "x.jpg"]).run()
        #expect(result.exitCode == 2)
        #expect(result.errorText.hasPrefix("Error: Unknown command 'perpare'. Did you mean 'prepare'?\n"))
    }

    @Test(arguments: [
        (["serve", "--port", "http"], "attachprep serve --help"),
        (["worker", "--queue", "nats://127.0.0.1", "--drain", "soon"], "attachprep worker --help"),
        (["jobs", "list", "--queue", "ftp://x"], "attachprep jobs list --help"),
        (["prepare", "--crop", "1,2", "x.jpg"], "attachprep prepare --help"),
    ])
    func `A wrong value leads to the help of its own command`(words: [String], help: String) async throws {
        let result = try await RunCommand(BuiltBinary.attachprep(), words).run()
        #expect(result.exitCode == 2 && result.errorText.contains("'\(help)'"), "\(result.errorText)")
    }
}
