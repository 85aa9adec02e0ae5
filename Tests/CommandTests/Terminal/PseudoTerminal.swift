import Foundation
import TestSupport

/// Runs the command on a terminal made by `script`, which is its standard output and standard error.
struct PseudoTerminal {
    let columns: Int
    /// Overrides of the fixed environment below.
    var environment: [String: String?] = [:]

    /// Starts `attachprep` with these arguments.
    ///
    /// - Parameter output: a file for standard output; nil for the terminal.
    func start(_ arguments: [String], bench: CommandBench, output: String? = nil) throws -> RunningCommand {
        let line = ([try BuiltBinary.attachprep()] + arguments).map(Self.quoted).joined(separator: " ")
        let target = output.map { " > " + Self.quoted($0) } ?? ""
        let own: [String: String?] = [
            "TERM": "xterm", "NO_COLOR": nil, "LC_ALL": nil, "LC_CTYPE": nil, "LANG": "C.UTF-8",
            "TMPDIR": bench.folder.path("tmp"), "XDG_STATE_HOME": bench.folder.path("state"),
        ]
        return try RunCommand(
            "script", ["-qec", "stty cols \(columns); exec \(line)\(target)", "/dev/null"],
            environment: own.merging(environment) { $1 }, folder: bench.folder.path
        ).start()
    }

    /// Runs the command and returns everything it wrote to the terminal.
    func transcript(of arguments: [String], bench: CommandBench, output: String? = nil) async throws -> String {
        try await start(arguments, bench: bench, output: output).result().text
    }

    /// The lines that remain on the screen, without colors and without overwritten text.
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
