import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What there is now, looked up when somebody asks for metrics.
///
/// | name | labels |
/// | --- | --- |
/// | `attachprep_jobs` | `state` |
/// | `attachprep_jobs_due` | |
/// | `attachprep_jobs_oldest_due_seconds` | |
/// | `attachprep_outbox_webhooks` | `state` |
/// | `attachprep_media_bytes` | |
extension JobMetrics {
    /// - Throws: `queue.unavailable`; the gauges then keep what they last showed.
    public func refresh(_ store: any JobCatalogue & WebhookOutbox & ResultStore) async throws {
        let counts = try await store.counts()
        let webhooks = try await store.webhookCounts()
        set("media_bytes", Double(try await store.mediaBytes()))
        for state in JobState.allCases {
            set("jobs", Double(counts.byState[state] ?? 0), ("state", state.rawValue))
        }
        set("jobs_due", Double(counts.due))
        set("jobs_oldest_due_seconds", counts.oldestDue.map { max(0, Date.now.timeIntervalSince($0)) } ?? 0)
        for state in WebhookState.allCases {
            set("outbox_webhooks", Double(webhooks[state] ?? 0), ("state", state.rawValue))
        }
    }
}
