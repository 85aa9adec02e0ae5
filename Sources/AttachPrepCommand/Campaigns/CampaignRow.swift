import AttachPrep
import AttachPrepJobs
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One campaign as a person reads it.
struct CampaignRow {
    let campaign: Campaign

    init(_ campaign: Campaign) {
        self.campaign = campaign
    }

    /// All there is to say of it.
    var whole: String {
        var lines = [
            ("campaign", campaign.name.text), ("payloads", campaign.dispatches.grouped),
            ("recipients", campaign.recipients.grouped),
            ("arrived", "\(campaign.arrivals.grouped) (\(Self.rate(campaign)))"),
        ]
        lines += PushReceiptReport.Outcome.allCases.map { ($0.rawValue, (campaign.outcomes[$0] ?? 0).grouped) }
        if let times = campaign.sendToAttach { lines.append(("to attach", Self.text(times))) }
        if let times = campaign.attach { lines.append(("on device", Self.text(times))) }
        lines.append(("sent", Self.span(campaign.firstSentAt, campaign.lastSentAt)))
        if let first = campaign.firstArrivalAt, let last = campaign.lastArrivalAt {
            lines.append(("arrivals", Self.span(first, last)))
        }
        let display = StandardStreams.output
        return lines.map { display.paragraph(StyledText($0.0, .dim).filled(to: 11) + StyledText($0.1)) }
            .joined(separator: "\n")
    }

    /// Arrivals for each recipient, in percent; never rounded up to all of them.
    static func rate(_ campaign: Campaign) -> String {
        // Bounded: floating point, which does not trap.
        let tenths = (campaign.arrivalRate * 1000).rounded(.down) / 10
        return "\(tenths)%"
    }

    private static func text(_ times: SecondsDistribution) -> String {
        let shares = [
            ("p50", times.p50), ("p90", times.p90), ("p95", times.p95), ("p99", times.p99), ("max", times.max),
        ]
        return shares.map { "\($0.0) \(TerminalText.duration(milliseconds: $0.1 * 1000))" }.joined(separator: ", ")
    }

    private static func span(_ first: Date, _ last: Date) -> String {
        first == last ? Timestamp.text(first) : "\(Timestamp.text(first)) to \(Timestamp.text(last))"
    }
}
