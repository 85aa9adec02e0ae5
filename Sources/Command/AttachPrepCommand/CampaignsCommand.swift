import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import RichPush

/// `attachprep campaigns [NAME]...`
struct CampaignsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaigns",
        abstract: "Show how many notifications arrived, and how soon.",
        discussion: """
            Uses a running service with --url, else the data folder, even while a service uses it. Devices send \
            receipts with the token of their payload; receipts of payloads without a campaign are counted as \
            "default". Times are from sending the payload until the notification was shown with its attachment.
            """)

    @Argument(help: ArgumentHelp("Show all details of these campaigns only.", valueName: "name"))
    var names: [CampaignName] = []
    @Option(help: ArgumentHelp("Maximum number of campaigns; 0 for all.", valueName: "n")) var limit = Limits.pageCount
    @OptionGroup var client: JobsClientOptionGroup

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        guard names.isEmpty else {
            try await client.each(names) { client, name, format in
                let campaign = try await client.campaign(name)
                if format == .json { return try JSONEncoder.singleLine.text(campaign) }
                return CampaignRow(campaign: campaign).details
            }
            return
        }
        try await client.list(
            limit: limit, by: CampaignCursor.self, none: "No campaigns.", table: CampaignTable.table
        ) { client, cursor, count in
            let page = try await client.campaigns(after: cursor, limit: count)
            return (page.campaigns, page.next)
        }
    }
}

enum CampaignTable {
    private static let numbers = ["recipients", "arrived", "rate", "attached", "thumbnail", "text", "p50", "p95"]

    static func table(_ campaigns: [Campaign]) -> TextTable {
        TextTable(
            columns: [TextTable.Column(title: "campaign")]
                + numbers.map { TextTable.Column(title: $0, isNumber: true, width: 10) }
                + [TextTable.Column(title: "last sent")],
            rows: campaigns.map(row),
            narrowingSteps: numbers.map { .narrow($0, to: $0.count) }
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
            + [StyledText(campaign.lastSentAt.map(Timestamp.text) ?? "-", .dim)]
    }
}

/// The text output of `campaigns NAME`.
struct CampaignRow {
    let campaign: Campaign

    var details: String {
        var lines = [
            ("campaign", campaign.name.text), ("payloads", campaign.dispatches.grouped),
            ("recipients", campaign.recipients.grouped),
            ("arrived", "\(campaign.arrivals.grouped) (\(Self.rate(campaign)))"),
        ]
        lines += PushReceiptReport.Outcome.allCases.map { ($0.rawValue, (campaign.outcomes[$0] ?? 0).grouped) }
        if let times = campaign.sendToAttach { lines.append(("to attach", Self.text(times))) }
        if let times = campaign.attach { lines.append(("on device", Self.text(times))) }
        if let jobs = campaign.jobs, jobs.jobs > 0 { lines.append(("jobs", Self.text(jobs))) }
        if let first = campaign.firstSentAt, let last = campaign.lastSentAt {
            lines.append(("sent", Self.span(first, last: last)))
        }
        if let first = campaign.firstArrivalAt, let last = campaign.lastArrivalAt {
            lines.append(("arrivals", Self.span(first, last: last)))
        }
        let display = StandardStreams.output
        return lines.map { display.paragraph(StyledText($0.0, .dim).filled(to: 11) + StyledText($0.1)) }
            .joined(separator: "\n")
    }

    /// The arrival rate in percent, rounded down, so that 100% means all.
    static func rate(_ campaign: Campaign) -> String {
        let tenths = (campaign.arrivalRate * 1000).rounded(.down) / 10
        return "\(tenths)%"
    }

    private static func text(_ times: SecondsDistribution) -> String {
        let shares = [
            ("p50", times.p50), ("p90", times.p90), ("p95", times.p95), ("p99", times.p99), ("max", times.max),
        ]
        return shares.map { "\($0.0) \(TerminalText.duration(milliseconds: $0.1 * 1000))" }.joined(separator: ", ")
    }

    /// The jobs with the tag of the campaign: `12 (2 running, 10 succeeded)`.
    private static func text(_ progress: JobProgress) -> String {
        let states = JobState.allCases.compactMap { state in
            progress.states[state.rawValue].flatMap { $0 > 0 ? "\($0.grouped) \(state.rawValue)" : nil }
        }
        return "\(progress.jobs.grouped) (\(states.joined(separator: ", ")))"
    }

    private static func span(_ first: Date, last: Date) -> String {
        first == last ? Timestamp.text(first) : "\(Timestamp.text(first)) to \(Timestamp.text(last))"
    }
}
