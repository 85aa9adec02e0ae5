import Foundation
import TestSupport
import Testing

/// The commands that operators are told to run, run on the data folder of a service.
@Suite(.timeLimit(.minutes(3))) struct AlertCommandTests {
    /// The exit status of a command that cannot be understood.
    private static let usageStatus: Int32 = 2

    private static func text(_ path: String) throws -> String {
        try String(contentsOfFile: SourceTree.path(path), encoding: .utf8)
    }

    /// The arguments of each `attachprep …` of a text that the pattern finds; a variable of the shell becomes a queue
    /// in the data folder, since only the address of a queue is given in that way.
    private static func commands(_ text: String, _ pattern: Regex<(Substring, Substring)>) -> Set<[String]> {
        Set(
            text.matches(of: pattern).map { match in
                match.1.split(separator: " ").map { $0 == "\"$ATTACHPREP_QUEUE\"" ? "file:" : String($0) }
            })
    }

    private func run(_ commands: Set<[String]>, isAnswered: (CommandResult) -> Bool) async throws {
        let bench = try ServiceBench()
        let service = try await bench.start()
        _ = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("truncated.jpg"))"}"#)
        for command in commands.sorted(by: { $0.joined() < $1.joined() }) {
            let result = try await bench.command(command).run()
            #expect(isAnswered(result), "\(command): \(result.exitCode) \(result.errorText)")
        }
        try await service.stop()
    }

    @Test func `Every command in the text of an alert succeeds`() async throws {
        let commands = Self.commands(try Self.text("deploy/prometheus-rules.yml"), /`attachprep ([^`]*)`/)
        #expect(commands.contains(["jobs", "list", "--state", "dead"]) && commands.count >= 6)
        // The sandbox of the machine that runs the tests may be incomplete, which `doctor` reports by its status.
        try await run(commands.filter { $0 != ["doctor"] }) { $0.exitCode == 0 }
    }

    @Test func `Every command on the page of an alert is understood`() async throws {
        let folder = SourceTree.path("docs/incidents")
        var commands: Set<[String]> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let page = try Self.text("docs/incidents/\(name)")
            commands.formUnion(Self.commands(page, /(?m)^(?:\$ )?attachprep ([^|#<>\n]*)/))
            commands.formUnion(Self.commands(page, /`attachprep ([a-z]+ [^`]*)`/))
        }
        #expect(commands.count >= 12)
        try await run(commands) { $0.exitCode != Self.usageStatus }
    }
}
