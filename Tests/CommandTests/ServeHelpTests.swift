import Foundation
import TestSupport
import Testing

/// The documentation of the settings of `attachprep serve`.
@Suite(.timeLimit(.minutes(1))) struct ServeHelpTests {
    /// The names of all settings, from `Setting.swift`.
    private func settings() throws -> [String] {
        let text = try String(
            contentsOfFile: SourceTree.path("Sources/AttachPrepService/Configuration/Setting.swift"), encoding: .utf8)
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

    @Test func `The README lists every setting with its environment variable`() throws {
        let readme = try String(contentsOfFile: SourceTree.path("README.md"), encoding: .utf8)
        for name in try settings() { #expect(readme.contains("| `\(variable(name))` |"), "\(name)") }
    }

    @Test(arguments: [["--port", "http"], ["--fsync", "sometimes"], ["--drain", "soon"]])
    func `An invalid setting is wrong usage, and the message has its name and value`(words: [String]) async throws {
        let result = try await RunCommand(BuiltBinary.attachprep(), ["serve"] + words).run()
        #expect(result.exitCode == 2 && result.errorText.contains(words[0]) && result.errorText.contains(words[1]))
    }
}
