import Foundation
import TestSupport
import Testing

/// What `make install` puts beside the programs.
@Suite(.timeLimit(.minutes(1))) struct ManualTests {
    let folder: TemporaryFolder

    /// Once for all tests.
    private static let installed = Task {
        let folder = try TemporaryFolder()
        let result = try await RunCommand(
            SourceTree.path("tools/install-share"), [BuiltBinary.attachprep(), folder.path]
        ).run()
        try #require(result.exitCode == 0, "\(result.errorText)")
        return folder
    }

    init() async throws {
        folder = try await Self.installed.value
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder.path(name))), as: UTF8.self)
    }

    /// The names of the commands, as the help lists them.
    private func commands() async throws -> [String] {
        let help = try await RunCommand(BuiltBinary.attachprep(), ["--help"]).run().text
        let rest = try #require(help.components(separatedBy: "SUBCOMMANDS:").last)
        let list = try #require(rest.components(separatedBy: "\n\n").first)
        return list.split(separator: "\n").compactMap { line in
            line.hasPrefix("  ") && !line.hasPrefix("   ") ? line.split(separator: " ").first.map(String.init) : nil
        }
    }

    @Test func `The manual page has all commands and their options`() async throws {
        let page = try text("man/man1/attachprep.1")
        #expect(page.hasPrefix(".TH ATTACHPREP 1") && page.utf8.allSatisfy { $0 < 128 })
        let names = try await commands()
        #expect(names.count >= 11)
        for name in names { #expect(page.contains(".SS attachprep \(name)\n"), "\(name)") }
        for option in ["--rendition", "--publish", "--queue", "--all-dead"] {
            #expect(page.contains("\\fB\(option.replacingOccurrences(of: "-", with: "\\-"))\\fR"), "\(option)")
        }
    }

    @Test(arguments: [
        "bash-completion/completions/attachprep", "zsh/site-functions/_attachprep",
        "fish/vendor_completions.d/attachprep.fish",
    ])
    func `Each shell completes all commands`(name: String) async throws {
        let script = try text(name)
        for command in try await commands() { #expect(script.contains(command), "\(command)") }
    }

    @Test func `What bash is given it can read`() async throws {
        let script = folder.path("bash-completion/completions/attachprep")
        let result = try await RunCommand(
            "bash", ["-c", #"source "$0" && complete -p attachprep"#, script]
        ).run()
        #expect(result.text.contains("attachprep"), "\(result.errorText)")
    }
}
