import AttachPrep
import AttachPrepJobs
import AttachPrepService
import Foundation
import Testing

@testable import AttachPrepCommand

/// Lists of jobs, webhooks, quarantine and campaigns on terminals of several widths.
@Suite struct ListTableTests {
    private static func decoded<Value: Decodable>(_ json: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }

    private static func jobs() throws -> TextTable {
        JobTable.table(
            try decoded(
                """
                [{"id": "01a2003d-a3b2-700b-ba31-e2f7b414981c", "state": "dead", "attempts": 5,
                  "request": {"source": "https://cdn.example/pictures/2026/autumn/cat.webp"},
                  "error": {"code": "download.connect", "message": "", "retryable": true},
                  "createdAt": "2026-11-21T22:32:49.331Z"},
                 {"id": "01a2003d-b4c3-700b-ba31-e2f7b414981d", "state": "running", "attempts": 1,
                  "request": {"source": "upload:3e593a431646"}, "createdAt": "2026-11-21T22:32:50.001Z"}]
                """))
    }

    private static func webhooks() throws -> TextTable {
        WebhookSummary.table(
            try decoded(
                """
                [{"id": "01a2003d-a3b2-700b-ba31-e2f7b414981c", "job": "01a2003d-a3b2-700b-ba31-e2f7b414981d",
                  "url": "https://push.example/hooks/attachments", "type": "attachment.rejected", "state": "givenUp",
                  "attempts": 9, "createdAt": "2026-11-21T22:32:49.331Z", "lastStatus": 500,
                  "lastError": "The receiver answered 500."}]
                """))
    }

    private static func quarantine() throws -> TextTable {
        let digest = String(repeating: "0123456789abcdef", count: 4)
        let entries: [QuarantineEntry] = try decoded(
            """
            [{"digest": "\(digest)", "subject": "content", "prefixes": [], "strikes": [
              {"date": 0, "ending": "signal 11, Segmentation fault", "source": "https://cdn.example/a/bad.webp"},
              {"date": 9, "ending": "signal 11, Segmentation fault", "source": "https://cdn.example/a/bad.webp"}]}]
            """)
        return QuarantineRow.table(entries.map(QuarantineRow.init))
    }

    private static func campaigns() throws -> TextTable {
        let names = try ["autumn-sale-of-all-that-was-left", "c"].map { try #require(CampaignName($0)) }
        return CampaignTable.table(
            names.map {
                Campaign(
                    name: $0, dispatches: 2, recipients: 1_234_567, outcomes: [.attached: 1_000_000],
                    firstSentAt: .distantPast, lastSentAt: .distantPast)
            })
    }

    private static func all() throws -> [TextTable] { try [jobs(), webhooks(), quarantine(), campaigns()] }

    private func lines(_ table: TextTable, _ columns: Int?) -> [String] {
        table.lines(for: Display(columns: columns)).map(\.plain)
    }

    @Test(arguments: [40, 60, 80, 120, 200])
    func `Every list fits the terminal and keeps its first two columns`(columns: Int) throws {
        for table in try Self.all() {
            let lines = lines(table, columns)
            #expect(lines.allSatisfy { DisplayWidth.columns(of: $0) <= columns }, "\(lines)")
            #expect(lines[0].hasPrefix(table.columns[0].title) && lines[0].contains(table.columns[1].title), "\(lines)")
        }
    }

    @Test func `In a file, every list has all columns, complete`() throws {
        for table in try Self.all() {
            let text = lines(table, nil).joined(separator: "\n")
            for cell in table.rows.joined() where !cell.plain.isEmpty { #expect(text.contains(cell.plain)) }
            #expect(!text.contains("…"))
        }
    }

    @Test func `A job's complete ID fits 80 columns, and its state 40`() throws {
        #expect(
            lines(try Self.jobs(), 80) == [
                "job                                   state      result            source",
                "01a2003d-a3b2-700b-ba31-e2f7b414981c  dead       download.connect  https:…t.webp",
                "01a2003d-b4c3-700b-ba31-e2f7b414981d  running                      upload…431646",
            ])
        #expect(
            lines(try Self.jobs(), 40) == [
                "job              state      source", "01a2003…414981c  dead       https:….webp",
                "01a2003…414981d  running    upload…31646",
            ])
    }

    /// Issue 19, item 13.
    @Test func `The caller's ID is in the list, and on 80 columns replaces the source`() throws {
        let table = JobTable.table(
            try Self.decoded(
                """
                [{"id": "01a2003d-a3b2-700b-ba31-e2f7b414981c", "state": "dead", "attempts": 5,
                  "request": {"source": "https://cdn.example/cat.webp", "id": "push-4711"},
                  "error": {"code": "download.connect", "message": "", "retryable": true},
                  "createdAt": "2026-11-21T22:32:49.331Z"}]
                """))
        #expect(
            lines(table, 80) == [
                "job                                   state      result            id",
                "01a2003d-a3b2-700b-ba31-e2f7b414981c  dead       download.connect  push-4711",
            ])
        #expect(lines(table, nil)[1].hasSuffix("download.connect  push-4711  https://cdn.example/cat.webp"))
    }

    @Test func `Job states have colors`() throws {
        let lines = try Self.jobs().lines(for: Display(columns: 200, isColored: true)).map(\.painted)
        #expect(lines[0].contains("\u{1B}[1mstate\u{1B}[0m"))
        #expect(lines[1].contains("\u{1B}[31mdead\u{1B}[0m") && lines[2].contains("\u{1B}[36mrunning\u{1B}[0m"))
    }

    @Test func `The shown digits of a quarantined file are enough to lift it`() throws {
        #expect(lines(try Self.quarantine(), 40)[1].hasPrefix("0123456789abcde…  blocked"))
    }
}
