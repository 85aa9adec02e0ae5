import Foundation
import TestSupport
import Testing

/// The manual pages and shell completions that `make install` writes.
@Suite(.timeLimit(.minutes(1))) struct ManualTests {
    let folder: TemporaryFolder

    /// Installed once, for all tests.
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

    /// The names of the commands in the help.
    private func commands() async throws -> [String] {
        let help = try await RunCommand(BuiltBinary.attachprep(), ["--help"]).run().text
        let rest = try #require(help.components(separatedBy: "SUBCOMMANDS:").last)
        let list = try #require(rest.components(separatedBy: "\n\n").first)
        return list.split(separator: "\n").compactMap { line in
            line.hasPrefix("  ") && !line.hasPrefix("   ") ? line.split(separator: " ").first.map(String.init) : nil
        }
    }

    @Test func `Each command has its own page, and the main page lists them all`() async throws {
        let names = try await commands()
        #expect(names.count >= 11)
        let first = try text("man/man1/attachprep.1")
        for name in names {
            #expect(first.contains("\\fBattachprep\\-\(name)\\fR(1)"), "\(name)")
            let page = try text("man/man1/attachprep-\(name).1")
            #expect(page.hasPrefix(".TH ATTACHPREP-\(name.uppercased()) 1") && page.utf8.allSatisfy { $0 < 128 })
        }
    }

    @Test func `Every page has its sections once, in the usual order`() async throws {
        for name in try await [""] + commands().map({ "-\($0)" }) {
            let page = try text("man/man1/attachprep\(name).1")
            let sections = page.split(separator: "\n").filter { $0.hasPrefix(".SH ") }.map { $0.dropFirst(4) }
            #expect(
                sections.filter { $0 != "COMMANDS" } == [
                    "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES",
                    "SEE ALSO",
                ], "\(name)")
        }
    }

    @Test(arguments: [
        ("prepare", "--rendition"), ("prepare", "--publish"), ("serve", "--queue"), ("jobs", "--all-dead"),
        ("jobs", "--state"),
    ])
    func `A page lists the options of its command`(command: String, option: String) throws {
        let shown = option.replacingOccurrences(of: "-", with: "\\-")
        #expect(try text("man/man1/attachprep-\(command).1").contains("\\fB\(shown)\\fR"))
    }

    @Test func `Options shared by the subcommands of a page are listed once`() async throws {
        let page = try text("man/man1/attachprep-jobs.1")
        for option in ["--token-file", "--url", "--data", "--format"] {
            let shown = "\n\\fB\(option.replacingOccurrences(of: "-", with: "\\-"))\\fR"
            #expect(page.components(separatedBy: shown).count == 2, "\(option)")
        }
    }

    @Test func `A default is stated once per option`() throws {
        let page = try text("man/man1/attachprep-prepare.1")
        #expect(page.contains("Default: 300x300."))
        for line in page.split(separator: "\n") {
            #expect(line.lowercased().components(separatedBy: "default:").count <= 2, "\(line)")
        }
    }

    @Test func `The options of every example exist`() async throws {
        for name in try await commands() {
            let page = try text("man/man1/attachprep-\(name).1").replacingOccurrences(of: "\\-", with: "-")
            for example in page.split(separator: "\n") where example.hasPrefix("    attachprep ") {
                let words = example.split(separator: " ").map(String.init)
                let path = words.dropFirst().prefix { !$0.hasPrefix("-") && $0.allSatisfy(\.isLetter) }
                let help = try await RunCommand(BuiltBinary.attachprep(), Array(path) + ["--help"]).run().text
                for word in words where word.hasPrefix("--") { #expect(help.contains(word), "\(example)") }
            }
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

    @Test func `The completion script is valid for bash`() async throws {
        let script = folder.path("bash-completion/completions/attachprep")
        let result = try await RunCommand(
            "bash", ["-c", #"source "$0" && complete -p attachprep"#, script]
        ).run()
        #expect(result.text.contains("attachprep"), "\(result.errorText)")
    }
}

/// The documentation of the settings of `attachprep serve`.
@Suite(.timeLimit(.minutes(1))) struct ServeHelpTests {
    /// The names of all settings, from `Setting.swift`.
    private func settings() throws -> [String] {
        let text = try String(
            contentsOfFile: SourceTree.path("Sources/Service/AttachPrepService/Configuration/Setting.swift"),
            encoding: .utf8)
        return text.split(separator: "\n").filter { $0.hasPrefix("    case ") }.compactMap { line in
            let parts = line.dropFirst("    case ".count).split(separator: "\"")
            return (parts.count > 1 ? parts[1] : parts[0]).description
        }
    }

    private func variable(_ name: String) -> String {
        "ATTACHPREP_" + name.uppercased().replacingOccurrences(of: "-", with: "_")
    }

    @Test func `The help of serve lists every setting with its environment variable`() async throws {
        let help = try await RunCommand(BuiltBinary.attachprep(), ["serve", "--help"]).run().text
        let words = help.split(whereSeparator: { $0.isWhitespace || "();,.".contains($0) }).map(String.init)
        for name in try settings() {
            #expect(words.contains(variable(name)), "\(name)")
            if !["tokens", "webhook-secrets", "queue-password", "queue-token"].contains(name) {
                #expect(words.contains("--\(name)"), "\(name)")
            }
        }
    }

    @Test func `The documentation lists every setting with its environment variable`() throws {
        let page = try String(contentsOfFile: SourceTree.path("docs/reference/settings.md"), encoding: .utf8)
        for name in try settings() { #expect(page.contains("`\(variable(name))` |"), "\(name)") }
    }

    @Test(arguments: [["--port", "http"], ["--fsync", "sometimes"], ["--drain", "soon"]])
    func `An invalid setting is wrong usage, and the message has its name and value`(words: [String]) async throws {
        let result = try await RunCommand(BuiltBinary.attachprep(), ["serve"] + words).run()
        #expect(result.exitCode == 2 && result.errorText.contains(words[0]) && result.errorText.contains(words[1]))
    }
}
