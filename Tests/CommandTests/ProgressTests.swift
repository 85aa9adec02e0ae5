import Foundation
import TestSupport
import Testing

/// The progress bar: on a terminal alone, with count, rate, time left and failures.
@Suite(.timeLimit(.minutes(2))) struct ProgressTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// A batch of two, one of them rejected, whose standard error is a terminal; what the terminal saw.
    private func onTerminal() async throws -> String {
        let sources = ["grid.jpg", "picture.jpg"].map(SourceTree.sample)
        let list = try bench.folder.write(sources.joined(separator: "\n"), to: "list")
        let program = try BuiltBinary.attachprep()
        let line =
            "stty cols 100; '\(program)' batch --output '\(bench.output)' '\(list)' >'\(bench.folder.path("rows"))'"
        return try await RunCommand("script", ["-qec", line, "/dev/null"]).run().text
    }

    @Test func `A terminal sees a bar that is drawn anew in its place and taken away at the end`() async throws {
        let seen = try await onTerminal()
        #expect(seen.contains(/\r\u{1B}\[K\[=+ +\] 1\/2  [0-9.]+\/s  [0-9]:[0-9]{2} left  [01] rejected/))
        #expect(seen.contains(/\r\u{1B}\[K\[=+\] 2\/2  [0-9.]+\/s  0:00 left  1 rejected\r\u{1B}\[K\r\n/))
        #expect(seen.contains("2 of 2 in "))
    }

    @Test func `Results are not mixed with the bar`() async throws {
        _ = try await onTerminal()
        let rows = String(decoding: try bench.folder.bytes(of: "rows"), as: UTF8.self)
        #expect(rows.split(separator: "\n").count == 2)
        #expect(!rows.contains("\u{1B}") && !rows.contains("\r"))
    }
}
