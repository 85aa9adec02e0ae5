import Foundation
import TestSupport
import Testing

@testable import AttachPrepCommand

/// The progress bar of a batch, on terminals only: count, rate, remaining time and failures.
@Suite(.timeLimit(.minutes(2))) struct ProgressTests {
    let bench: CommandBench
    let server: LoopbackServer
    let gate = LoopbackGate()

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        try server.serve(folder: URL(filePath: SourceTree.path("samples/media"), directoryHint: .isDirectory))
        server.serve("/slow.jpg", LoopbackResponse([.wait(gate), .close]))
    }

    /// Starts a batch whose second source is sent when the gate opens.
    private func start(_ terminal: PseudoTerminal, rows: String? = nil) throws -> RunningCommand {
        let list = try bench.folder.write("\(server.url("/grid.jpg"))\n\(server.url("/slow.jpg"))\n", to: "list")
        let arguments = ["batch", "--allow-private-network", "--output", bench.output, list]
        return try terminal.start(arguments, bench: bench, output: rows)
    }

    /// - Parameter pattern: a regular expression.
    private func until(_ running: RunningCommand, shows pattern: String) async throws {
        try await waitUntil("\(pattern) on the terminal") {
            guard let seen = try? running.textSoFar(), let pattern = try? Regex(pattern) else { return false }
            return seen.contains(pattern)
        }
    }

    @Test func `On a terminal, the progress bar is redrawn in place and removed at the end`() async throws {
        let running = try start(PseudoTerminal(columns: 100, environment: ["NO_COLOR": "1", "LANG": "C"]))
        try await until(running, shows: #"\r\[=+ +\] 1/2   50%  0:0[0-9] +[0-9.]+/s  [0-9]:[0-9]{2} left  0 rejected"#)
        gate.open()
        let seen = try await running.result().text
        #expect(seen.contains(" 0/2    0%"))
        #expect(seen.contains("\r\u{1B}[K"))
        #expect(PseudoTerminal.screen(seen).allSatisfy { !$0.contains("[=") })
        #expect(seen.contains("2 of 2 in "))
    }

    @Test func `The bar shows elapsed time and current sources while no source finishes`() async throws {
        let running = try start(PseudoTerminal(columns: 200))
        try await until(running, shows: #"\] 1/2 .*0:0[1-9].*slow\.jpg 0:0[1-9]"#)
        gate.open()
        _ = try await running.result()
    }

    @Test func `When the window becomes wider, the bar becomes wider`() async throws {
        let running = try start(PseudoTerminal(columns: 40))
        try await until(running, shows: #"\] 1/2 "#)
        #expect(try !running.textSoFar().contains("0 rejected"))
        let shell = try #require(ProcessStatus(processID: running.processID).children.first)
        let terminal = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(shell.processID)/fd/2")
        _ = try await RunCommand("stty", ["-F", terminal, "cols", "120"]).run()
        try await until(running, shows: #"\] 1/2 .* 0 rejected"#)
        gate.open()
        _ = try await running.result()
    }

    @Test func `After Ctrl-C the bar is removed, and the cursor was never hidden`() async throws {
        let running = try start(PseudoTerminal(columns: 80))
        try await until(running, shows: #"\] 1/2 "#)
        let command = try #require(ProcessStatus(processID: running.processID).children.first)
        kill(command.processID, SIGINT)
        let result = try await running.result()
        #expect(result.exitCode == 130)
        let screen = PseudoTerminal.screen(result.text)
        #expect(screen.contains { $0.hasPrefix("1 of 2 not processed;") } && !screen.contains { $0.contains("] 1/2") })
        #expect(!result.text.contains("\u{1B}[?25l"))
    }

    @Test func `Results in a file are not mixed with the bar`() async throws {
        let running = try start(PseudoTerminal(columns: 80), rows: bench.folder.path("rows"))
        try await until(running, shows: #"\] 1/2 "#)
        gate.open()
        _ = try await running.result()
        let rows = String(decoding: try bench.folder.bytes(of: "rows"), as: UTF8.self)
        #expect(rows.split(separator: "\n").count == 2)
        #expect(!rows.contains("\u{1B}") && !rows.contains("\r"))
    }

    @Test(arguments: ["dumb", ""])
    func `A terminal that cannot redraw a line has no bar`(name: String) async throws {
        gate.open()
        let seen = try await start(PseudoTerminal(columns: 80, environment: ["TERM": name])).result().text
        #expect(!seen.contains("\u{1B}") && !seen.contains(/[0-2]\/2 +[0-9]+%/) && seen.contains("2 of 2 in "))
    }
}

/// The text of the progress line, without a terminal.
@Suite struct ProgressLineTests {
    private func text(_ line: ProgressLine, _ columns: Int, isUTF8: Bool = true) -> String {
        line.text(for: Display(columns: columns, isUTF8: isUTF8)).plain
    }

    private let half: ProgressLine = {
        var line = ProgressLine(total: 16)
        (line.done, line.skipped, line.failures, line.seconds) = (9, 1, 2, 80)
        line.working = [.init(name: "clip.mov", seconds: 75), .init(name: "猫.webp", seconds: 3)]
        return line
    }()

    @Test func `A wide terminal shows all numbers and the current sources`() {
        let bar = String(repeating: "█", count: 22) + "▌" + String(repeating: " ", count: 17)
        #expect(
            text(half, 200)
                == "[\(bar)]  9/16   56%  1:20   0.1/s  1:10 left  2 rejected  clip.mov 1:15, 猫.webp 0:03")
    }

    @Test func `Without UTF-8, the bar is drawn in ASCII`() {
        #expect(text(half, 200, isUTF8: false).hasPrefix("[" + String(repeating: "=", count: 22) + "   "))
    }

    @Test func `On a narrow terminal, the least important parts are omitted first`() {
        #expect(text(half, 40).hasSuffix("]  9/16  1:10 left  2 rejected"))
        #expect(text(half, 24).hasSuffix("  9/16"))
        #expect(text(half, 8) == " 9/16" && text(half, 4) == " 9…")
    }

    @Test(arguments: [1, 10, 20, 39, 40, 60, 79, 80, 120, 200, 500])
    func `The line never reaches the last column`(columns: Int) {
        for done in 0...16 {
            var line = half
            line.done = done
            #expect(line.text(for: Display(columns: columns)).columns < max(columns, 1))
        }
    }

    @Test func `The remaining time is unknown at the start, and 0 at the end`() {
        #expect(text(ProgressLine(total: 3), 100).contains("0/3    0%  0:00   0.0/s  -:-- left  0 rejected"))
        var line = ProgressLine(total: 3)
        (line.done, line.skipped, line.seconds) = (3, 3, 4000)
        #expect(text(line, 100).contains("3/3  100%  1:06:40   0.0/s  0:00 left"))
    }
}
