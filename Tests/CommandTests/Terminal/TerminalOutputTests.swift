import Foundation
import TestSupport
import Testing

@testable import AttachPrepCommand

/// Results on a terminal: within its width, with colors where wanted, and with escaped control characters.
@Suite(.timeLimit(.minutes(2))) struct TerminalOutputTests {
    let bench: CommandBench
    /// An image with an escape sequence in its name, one with wide characters, and a file that is not an image.
    private let names = ["evil\u{1B}[2J\u{1B}]0;x\u{7}.jpg", "猫の写真と犬の写真と鳥の写真と魚の写真.jpg", "page.jpg"]

    init() throws {
        bench = try CommandBench()
    }

    private func batch(_ terminal: PseudoTerminal, _ options: String..., output: String? = nil) async throws -> String {
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        for name in names.dropLast() { try bench.folder.write(Array(image), to: name) }
        try bench.folder.write("<html>", to: "page.jpg")
        let list = try bench.folder.write(names.joined(separator: "\n"), to: "list")
        return try await terminal.transcript(
            of: ["batch", "--output", bench.output] + options + [list], bench: bench, output: output)
    }

    private func rows(_ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix("passed  ") || $0.hasPrefix("rejected  ") }
    }

    @Test(arguments: [40, 80, 200])
    func `Rows fit the terminal and stay aligned`(columns: Int) async throws {
        let rows = rows(PseudoTerminal.screen(try await batch(PseudoTerminal(columns: columns))))
        #expect(rows.count == 3)
        #expect(rows.allSatisfy { DisplayWidth.columns(of: $0) <= columns }, "\(rows)")
        #expect(columns == 200 || rows.allSatisfy { $0.hasSuffix("…") }, "\(rows)")
        let starts = rows.map { row in
            row.range(of: "(image|media)", options: .regularExpression).map {
                DisplayWidth.columns(of: String(row[..<$0.lowerBound]))
            }
        }
        #expect(Set(starts).count == 1, "\(rows)")
    }

    @Test func `A file name cannot move the cursor`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 200))
        #expect(seen.contains("evil\\u{1b}[2J\\u{1b}]0;x\\u{7}.jpg"))
        #expect(!seen.contains("\u{1B}[2J") && !seen.contains("\u{1B}]") && !seen.contains("\u{7}"))
    }

    @Test func `Outcomes are green or red`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 80))
        #expect(seen.contains("\u{1B}[32mpassed\u{1B}[0m") && seen.contains("\u{1B}[31mrejected\u{1B}[0m"))
    }

    @Test func `NO_COLOR removes the colors and keeps the progress bar`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 80, environment: ["NO_COLOR": "1"]))
        #expect(seen.contains("\u{1B}[K") && !seen.contains(/\u{1B}\[[0-9]+m/))
    }

    @Test func `A file has complete rows and no colors, also when progress is on a terminal`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 40), output: bench.folder.path("rows"))
        #expect(seen.contains("\u{1B}[31m1 rejected\u{1B}[0m"))
        let text = String(decoding: try bench.folder.bytes(of: "rows"), as: UTF8.self)
        #expect(text.contains(names[1] + " ") && text.contains("give the URL of the file itself."))
        #expect(!text.contains("\u{1B}") && !text.contains("…"))
    }

    @Test func `--color turns colors on and off`() async throws {
        let image = SourceTree.sample("picture.jpg")
        let arguments = ["inspect", image, "--color"]
        let always = try await bench.command(arguments + ["always"], environment: ["NO_COLOR": "1"]).run()
        #expect(always.text.contains("\u{1B}[31mrejected\u{1B}[0m"))
        let json = try await bench.command(arguments + ["always", "--format", "json"]).run()
        #expect(json.text.hasPrefix("{") && !json.text.contains("\u{1B}"))
        let never = try await PseudoTerminal(columns: 80).transcript(of: arguments + ["never"], bench: bench)
        #expect(never.contains("rejected") && !never.contains("\u{1B}"))
        #expect(try await bench.command(arguments + ["purple"]).run().exitCode == 2)
    }

    @Test(arguments: [["doctor"], ["payload", "--list-dialects"], ["jobs", "list"], ["quarantine", "list"]])
    func `Other commands use the same colors and widths`(arguments: [String]) async throws {
        let seen = try await PseudoTerminal(columns: 80).transcript(of: arguments, bench: bench)
        let plain = try await bench.command(arguments).run().text
        #expect(!plain.contains("\u{1B}") && !plain.contains("…"))
        if arguments[0] == "doctor" { #expect(seen.contains("\u{1B}[32myes\u{1B}[0m")) }
        if arguments[0] == "payload" {
            let screen = PseudoTerminal.screen(seen)
            #expect(screen.first?.hasPrefix("dialect  ") == true && !plain.hasPrefix("dialect"))
            #expect(screen.allSatisfy { DisplayWidth.columns(of: $0) <= 80 })
        }
    }
}
