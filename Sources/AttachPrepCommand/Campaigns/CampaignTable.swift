import AttachPrep
import AttachPrepJobs
import RichPush

/// Campaigns below each other, a line each.
struct CampaignTable {
    let campaigns: [Campaign]

    init(_ campaigns: [Campaign]) {
        self.campaigns = campaigns
    }

    private static let columns = ["recipients", "arrived", "rate", "attached", "thumbnail", "text", "p50", "p95"]

    var head: String { line("campaign", Self.columns, "last sent") }

    var lines: [String] {
        campaigns.map { campaign in
            let times = campaign.sendToAttach.map { [$0.p50, $0.p95] }
            let cells =
                [campaign.recipients.grouped, campaign.arrivals.grouped, CampaignRow.rate(campaign)]
                + PushReceiptReport.Outcome.allCases.map { (campaign.outcomes[$0] ?? 0).grouped }
                + (times ?? []).map { TerminalText.duration(milliseconds: $0 * 1000) }
            let missing = Array(repeating: "-", count: Self.columns.count - cells.count)
            return line(campaign.name.text, cells + missing, Timestamp.text(campaign.lastSentAt))
        }
    }

    private func line(_ name: String, _ cells: [String], _ end: String) -> String {
        let width = campaigns.map(\.name.text.count).reduce(8, max)
        let numbers = zip(cells, Self.columns).map { TerminalText.column($0, max(10, $1.count), right: true) }
        return TerminalText.safe(([TerminalText.column(name, width)] + numbers + [end]).joined(separator: "  "))
    }
}
