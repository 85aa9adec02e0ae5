import Foundation
import TestSupport
import Testing

@testable import AttachPrepCommand

/// What a terminal sees of results: as wide as it is, coloured where it is wanted, and never moved by a name.
@Suite(.timeLimit(.minutes(2))) struct TerminalOutputTests {
    let bench: CommandBench
    /// A picture with an escape sequence in its name, one with wide characters, and one that is none.
    private let names = ["evil\u{1B}[2J\u{1B}]0;x\u{7}.jpg", "猫の写真と犬の写真と鳥の写真と魚の写真.jpg", "page.jpg"]

    init() throws {
        bench = try CommandBench()
    }

    private func batch(_ terminal: PseudoTerminal, _ options: String..., output: String? = nil) async throws -> String {
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        for name in names.dropLast() { try bench.folder.write(Array(picture), to: name) }
        try bench.folder.write("<html>", to: "page.jpg")
        let list = try bench.folder.write(names.joined(separator: "\n"), to: "list")
        return try await terminal.see(
            ["batch", "--output", bench.output] + options + [list], bench: bench, output: output)
    }

    private func rows(_ lines: [String]) -> [String] {
        lines.filter { $0.hasPrefix("passed  ") || $0.hasPrefix("rejected  ") }
    }

    @Test(arguments: [40, 80, 200])
    func `Rows have room on the terminal and stay aligned`(columns: Int) async throws {
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

    @Test func `A name cannot move the cursor`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 200))
        #expect(seen.contains("evil\\u{1b}[2J\\u{1b}]0;x\\u{7}.jpg"))
        #expect(!seen.contains("\u{1B}[2J") && !seen.contains("\u{1B}]") && !seen.contains("\u{7}"))
    }

    @Test func `Outcomes are coloured, green or red`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 80))
        #expect(seen.contains("\u{1B}[32mpassed\u{1B}[0m") && seen.contains("\u{1B}[31mrejected\u{1B}[0m"))
    }

    @Test func `NO_COLOR leaves the bar and takes the colours`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 80, environment: ["NO_COLOR": "1"]))
        #expect(seen.contains("\u{1B}[K") && !seen.contains(/\u{1B}\[[0-9]+m/))
    }

    @Test func `A file has whole rows and no colours, whatever the terminal of the progress`() async throws {
        let seen = try await batch(PseudoTerminal(columns: 40), output: bench.folder.path("rows"))
        #expect(seen.contains("\u{1B}[31m1 rejected\u{1B}[0m"))
        let text = String(decoding: try bench.folder.bytes(of: "rows"), as: UTF8.self)
        #expect(text.contains(names[1] + " ") && text.contains("check that the URL leads to the file itself."))
        #expect(!text.contains("\u{1B}") && !text.contains("…"))
    }

    @Test func `Colours can be asked for and refused`() async throws {
        let picture = SourceTree.sample("picture.jpg")
        let words = ["inspect", picture, "--color"]
        let always = try await bench.command(words + ["always"], environment: ["NO_COLOR": "1"]).run()
        #expect(always.text.contains("\u{1B}[31mrejected\u{1B}[0m"))
        let json = try await bench.command(words + ["always", "--format", "json"]).run()
        #expect(json.text.hasPrefix("{") && !json.text.contains("\u{1B}"))
        let never = try await PseudoTerminal(columns: 80).see(words + ["never"], bench: bench)
        #expect(never.contains("rejected") && !never.contains("\u{1B}"))
        #expect(try await bench.command(words + ["purple"]).run().exitCode == 2)
    }

    @Test(arguments: [["doctor"], ["payload", "--list-dialects"], ["jobs", "list"], ["quarantine", "list"]])
    func `Other commands have the same colours and widths`(words: [String]) async throws {
        let seen = try await PseudoTerminal(columns: 80).see(words, bench: bench)
        let plain = try await bench.command(words).run().text
        #expect(!plain.contains("\u{1B}") && !plain.contains("…"))
        if words[0] == "doctor" { #expect(seen.contains("\u{1B}[32myes\u{1B}[0m")) }
        if words[0] == "payload" {
            let screen = PseudoTerminal.screen(seen)
            #expect(screen.first?.hasPrefix("dialect  ") == true && !plain.hasPrefix("dialect"))
            #expect(screen.allSatisfy { DisplayWidth.columns(of: $0) <= 80 })
        }
    }
}
