import Foundation
import TestSupport

/// The command on a terminal of some width, as `script` makes one; standard error, and standard output, too, are it.
struct PseudoTerminal {
    let columns: Int
    /// Nothing is inherited of what makes a difference here.
    var environment: [String: String?] = [:]

    /// Starts `attachprep` with these words.
    ///
    /// - Parameter output: a file for standard output; nil leaves it the terminal.
    func start(_ words: [String], bench: CommandBench, output: String? = nil) throws -> RunningCommand {
        let line = ([try BuiltBinary.attachprep()] + words).map(Self.quoted).joined(separator: " ")
        let target = output.map { " > " + Self.quoted($0) } ?? ""
        let own: [String: String?] = [
            "TERM": "xterm", "NO_COLOR": nil, "LC_ALL": nil, "LC_CTYPE": nil, "LANG": "C.UTF-8",
            "TMPDIR": bench.folder.path("tmp"), "XDG_STATE_HOME": bench.folder.path("state"),
        ]
        return try RunCommand(
            "script", ["-qec", "stty cols \(columns); exec \(line)\(target)", "/dev/null"],
            environment: own.merging(environment) { _, given in given }, folder: bench.folder.path
        ).start()
    }

    /// What the terminal saw of a run to its end, as it was sent.
    func see(_ words: [String], bench: CommandBench, output: String? = nil) async throws -> String {
        try await start(words, bench: bench, output: output).result().text
    }

    /// The lines that stay on the screen: without colours, and without what was drawn over.
    static func screen(_ seen: String) -> [String] {
        seen.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false).map {
            let line = $0.split(separator: "\r", omittingEmptySubsequences: false).last.map(String.init) ?? ""
            return line.replacing(/\u{1B}\[[0-9;]*[mK]/, with: "")
        }
    }

    private static func quoted(_ word: String) -> String {
        "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
