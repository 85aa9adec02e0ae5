import ArgumentParser
import AttachPrepJobs
import RichPush

/// `attachprep campaigns [NAME]...`
struct CampaignsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaigns",
        abstract: "How many notifications arrived, and how soon.",
        discussion: """
            Of a running service with --url, else of the data folder, which may be in use. Devices report arrivals \
            with the token that their payload carried; payloads without a campaign are counted as "default". Times \
            are from sending until a notification was shown with an attachment.
            """)

    @Argument(help: ArgumentHelp("Only these, with all there is to say of them.", valueName: "name"))
    var names: [CampaignName] = []
    @Option(help: ArgumentHelp("At most so many; 0 for all.", valueName: "n")) var limit = Limits.pageCount
    @OptionGroup var desk: DeskOptionGroup

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit is 0 or more.") }
    }

    func run() async throws {
        guard names.isEmpty else {
            try await desk.each(names) { desk, name, format in
                let campaign = try await desk.campaign(name)
                return format == .json ? try JobRow.json(campaign) : CampaignRow(campaign).whole
            }
            return
        }
        try await desk.use { desk, format in
            try await list(desk, format)
            return true
        }
    }

    private func list(_ desk: any JobDesk, _ format: OutputFormat) async throws {
        var cursor: CampaignCursor?
        var left = limit == 0 ? Int.max : limit
        repeat {
            let page = try await desk.campaigns(after: cursor, limit: min(left, Limits.pageCountMax))
            if format == .json {
                for campaign in page.campaigns { StandardStreams.result(try JobRow.json(campaign)) }
            } else if cursor == nil, page.campaigns.isEmpty {
                StandardStreams.result("No campaigns.")
            } else {
                StandardStreams.result(CampaignTable.table(page.campaigns), isFirst: cursor == nil)
            }
            left -= page.campaigns.count
            cursor = page.next
        } while cursor != nil && left > 0
    }
}
