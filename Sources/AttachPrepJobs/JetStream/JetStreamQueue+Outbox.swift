import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Webhooks live in the values of their jobs: who sends one puts his mark there first, and of two who want to, one may.
///
/// How long a mark holds is counted by each machine on its own clock, since it heard of it.
extension JetStreamQueue: WebhookOutbox {
    public func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        // A job that runs alone runs without webhooks beside it.
        if held.hasAlone { return [] }
        let moment = clock.now()
        try await mirror.follow(moment)
        let claim = WebhookClaim(
            count: count, leaseUntil: moment.steady.adding(clamping: lease.milliseconds), fullHosts: [])
        let offers = try await mirror.offerWebhooks(claim, at: moment)
        let sender = Int64.random(in: 1 ... .max)
        var taken: [Webhook] = []
        for (index, offer) in offers.enumerated() {
            do {
                if try await take(offer, by: sender) { taken.append(offer.webhook) }
            } catch {
                try await mirror.letGo(offers[index...].map(\.webhook.id))
                if taken.isEmpty { throw named(error) }
                break
            }
        }
        return taken
    }

    /// - Returns: false when somebody else was quicker; we hear of it.
    private func take(_ offer: WebhookOffer, by sender: Int64) async throws -> Bool {
        let id = offer.webhook.id.text
        // From the bytes that we know alone: what has changed meanwhile is seen anew.
        let changed = try await change(offer.job.value.id, from: offer.job) { job in
            job.telling { $0.id == id ? $0.taken(by: sender, from: offer.formerSender) : nil }
        }
        return changed != nil
    }

    public func record(_ id: WebhookID, _ outcome: WebhookOutcome) async throws {
        let now = clock.now().wall
        try await named {
            guard let job = try await mirror.job(of: id) else { return }
            _ = try await change(job, from: nil) { job in
                job.telling { $0.id == id.text ? $0.tried(outcome, at: now) : nil }
            }
        }
    }

    public func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        let now = clock.now().wall
        return try await named {
            var count = 0
            for job in try await mirror.jobs(telling: url) {
                // Bounded: counts of what is in memory.
                count += try await changeNotices(of: job) { notice, _ in notice.givenUp(to: url, error, at: now) }
            }
            return count
        }
    }

    public func replayWebhooks(_ filter: WebhookFilter) async throws -> Int {
        let now = clock.now().wall
        return try await named {
            var count = 0
            for (job, ids) in try await mirror.webhooks(filter) {
                count += try await changeNotices(of: job) { notice, job in  // Bounded: counts of what is in memory.
                    guard ids.contains(notice.id) else { return nil }
                    return notice.replayed(at: now, callback: JobSecrets.callbackURL(in: job.secret))
                }
            }
            return count
        }
    }

    /// - Returns: how many were changed.
    private func changeNotices(of job: String, _ change: (KeptNotice, KeptJob) -> KeptNotice?) async throws -> Int {
        var count = 0
        let changed = try await self.change(job, from: nil) { job in
            count = 0
            return job.telling { notice in
                let next = change(notice, job)
                if next != nil { count += 1 }
                return next
            }
        }
        return changed == nil ? 0 : count
    }

    public func webhooks(
        _ filter: WebhookFilter, after cursor: WebhookID?, limit: Int
    ) async throws -> WebhookPage {
        let selection = try WebhookSelection(filter)
        return try await mirror.read { try WebhookQuery.page(selection, after: cursor, limit: limit, $0) }
    }

    public func webhookCounts() async throws -> [WebhookState: Int] { try await mirror.read(WebhookQuery.counts) }

    public func nextWebhookDue() async throws -> Date? {
        let moment = clock.now()
        try await mirror.follow(moment)
        return try await mirror.read { try WebhookQuery.nextDue($0, at: moment.steady) }
    }
}
