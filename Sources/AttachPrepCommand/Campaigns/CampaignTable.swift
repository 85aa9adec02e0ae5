import AttachPrep
import AttachPrepJobs
import RichPush

/// Campaigns below each other, a line each. Pure.
enum CampaignTable {
    private static let numbers = ["recipients", "arrived", "rate", "attached", "thumbnail", "text", "p50", "p95"]

    static func table(_ campaigns: [Campaign]) -> TextTable {
        TextTable(
            columns: [TextTable.Column(title: "campaign")]
                + numbers.map { TextTable.Column(title: $0, isNumber: true, width: 10) }
                + [TextTable.Column(title: "last sent")],
            rows: campaigns.map(row),
            concessions: numbers.map { .narrow($0, to: $0.count) }
                + [
                    .leaveOut("last sent"), .leaveOut("text"), .leaveOut("thumbnail"), .leaveOut("p50"),
                    .narrow("campaign", to: 16), .leaveOut("attached"), .leaveOut("p95"), .narrow("campaign", to: 8),
                ],
            hasHeadInFiles: true)
    }

    private static func row(_ campaign: Campaign) -> [StyledText] {
        let times = campaign.sendToAttach.map { [$0.p50, $0.p95] }
        let cells =
            [campaign.recipients.grouped, campaign.arrivals.grouped, CampaignRow.rate(campaign)]
            + PushReceiptReport.Outcome.allCases.map { (campaign.outcomes[$0] ?? 0).grouped }
            + (times ?? []).map { TerminalText.duration(milliseconds: $0 * 1000) }
        let missing = Array(repeating: "-", count: numbers.count - cells.count)
        return [StyledText(campaign.name.text)] + (cells + missing).map { StyledText($0) }
            + [StyledText(Timestamp.text(campaign.lastSentAt), .dim)]
    }
}
