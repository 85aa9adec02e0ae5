#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Webhooks that are kept until they are delivered or given up.
public protocol WebhookOutbox: Sendable {
    /// Webhooks that are due, for one sender: none of them is given again before `lease` is over.
    ///
    /// At most `Limits.webhooksPerHostMax` to a host are out at a time: a dead receiver must not hide the others.
    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook]

    /// Notes what came of sending one.
    func record(_ id: WebhookID, _ outcome: WebhookOutcome) async throws

    /// Gives up what is still to go to an address whose owner does not want it any more (410).
    ///
    /// - Returns: how many there were.
    func giveUpWebhooks(to url: String, error: String) async throws -> Int

    /// Webhooks by the time of their creation, the latest first.
    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage

    /// Has webhooks sent again, delivered ones too, with the schedule from its beginning and the same id.
    ///
    /// - Returns: how many there were.
    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int

    /// How many there are in each state.
    func webhookCounts() async throws -> [WebhookState: Int]

    /// When the next pending one is due; nil when there is none.
    func nextWebhookDue() async throws -> Date?
}
