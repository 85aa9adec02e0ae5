import TestSupport
import Testing

@testable import AttachPrepCommand

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

    @Test(arguments: [("", "", 0), ("a", "", 1), ("serve", "serev", 1), ("serve", "worker", 4), ("jobs", "job", 1)])
    func `The distance counts added, removed, changed and swapped letters`(one: String, other: String, changes: Int) {
        #expect(CommandNames.distance(one, other) == changes)
    }

    @Test func `The error of a mistyped command has a suggestion`() async throws {
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
    func `The error of an invalid value refers to the help of its command`(arguments: [String], help: String)
        async throws
    {
        let result = try await RunCommand(BuiltBinary.attachprep(), arguments).run()
        #expect(result.exitCode == 2 && result.errorText.contains("'\(help)'"), "\(result.errorText)")
    }
}
