public import AttachPrep
import AttachPrepModel
import FoundationEssentials
import MediaTypes
public import Metrics
import SafeArithmetic
import Synchronization

/// The metrics of a worker; `MetricDescription.service` describes them.
public final class JobMetrics: Sendable {
    private let factory: any MetricsFactory
    /// The last totals of counters that are kept elsewhere, by name and labels.
    private let noted = Mutex<[String: Int]>([:])

    /// - Parameter factory: creates the metrics, such as the service's registry.
    public init(factory: any MetricsFactory) {
        self.factory = factory
        // Counters start at 0, so that the first event is visible as an increase.
        record(PreparerStatistics())
        ended(.succeeded, nil, count: 0)
        for code in ErrorCode.allCases where code.isRetryable { ended(.dead, code, count: 0) }
        for kind in ReuseDecision.Kind.allCases {
            count("results_reused_total", amount: 0, labels: ("kind", kind.rawValue))
        }
    }

    // MARK: Job events

    func claimed(_ waitedSeconds: Double) {
        count("job_attempts_total", amount: 1)
        measure("job_wait_seconds", seconds: waitedSeconds)
    }

    func ended(_ state: JobState, _ code: ErrorCode?, count jobs: Int = 1) {
        count("jobs_ended_total", amount: jobs, labels: ("state", state.rawValue), ("code", code?.rawValue ?? ""))
    }

    func postponed(_ code: ErrorCode) {
        count("job_retries_total", amount: 1, labels: ("code", code.rawValue))
    }

    func reused(_ kind: ReuseDecision.Kind) {
        count("results_reused_total", amount: 1, labels: ("kind", kind.rawValue))
    }

    /// Records the stages of completed work; stages with a duration of 0 are omitted.
    func worked(_ timings: ManifestTimings) {
        for (name, milliseconds) in timings.stages where milliseconds > 0 {
            measure("stage_seconds", seconds: milliseconds / 1000, labels: ("stage", name))
        }
    }

    /// Counts the increase of a preparer's statistics since the last call.
    public func record(_ statistics: PreparerStatistics) {
        record("download_bytes_total", total: statistics.downloadedBytes)
        record("download_loops_abandoned_total", total: statistics.abandonedLoops)
        record("media_children_restarted_total", total: statistics.replacements.failed, labels: ("reason", "failed"))
        record(
            "media_children_restarted_total", total: statistics.replacements.recycled, labels: ("reason", "recycled"))
        for cause in MediaProcessFailure.allCases {
            record(
                "media_process_failures_total", total: statistics.failures[cause] ?? 0,
                labels: ("cause", cause.rawValue))
        }
        record("quarantine_strikes_total", total: statistics.quarantine.strikes)
        record("quarantine_rejections_total", total: statistics.quarantine.rejections)
    }

    /// Counts the increase of a total since the last call.
    private func record(_ name: String, total: Int, labels: (String, String)...) {
        let key = ([name] + labels.map(\.1)).joined(separator: " ")
        let added = noted.withLock { noted in
            let last = noted[key]
            // Calls are concurrent, so an older total may arrive after a newer one.
            noted[key] = max(last ?? 0, total)
            return last.map { total.subtracting(clamping: $0) }
        }
        // The first call creates the counter; most of the totals never change.
        guard added != 0 else { return }
        count(name, amount: added ?? total, labels: labels)
    }

    // MARK: Recording

    private func count(_ name: String, amount: Int, labels: (String, String)...) {
        count(name, amount: amount, labels: labels)
    }

    private func count(_ name: String, amount: Int, labels: [(String, String)]) {
        guard amount >= 0 else { return }
        Counter(label: "attachprep_\(name)", dimensions: labels, factory: factory).increment(by: amount)
    }

    private func measure(_ name: String, seconds: Double, labels: (String, String)...) {
        Timer(label: "attachprep_\(name)", dimensions: labels, factory: factory).recordSeconds(seconds)
    }

    func set(_ name: String, to value: Double, labels: (String, String)...) {
        Gauge(label: "attachprep_\(name)", dimensions: labels, factory: factory).record(value)
    }
}

extension ManifestTimings {
    fileprivate var stages: [(String, Double)] {
        [
            ("queue", queue), ("dns", dns), ("connect", connect), ("tls", tls), ("firstByte", firstByte),
            ("transfer", transfer), ("identify", identify), ("inspect", inspect), ("render", render),
            ("publish", publish), ("total", total),
        ]
    }
}

extension JobMetrics {
    /// Sets the gauges of the store's current state; called when metrics are scraped.
    ///
    /// - Throws: `queue.unavailable`; the gauges then keep their last values.
    public func refresh(_ store: any JobCatalog & WebhookOutbox & ResultStore) async throws {
        let counts = try await store.counts()
        let webhooks = try await store.webhookCounts()
        set("media_bytes", to: Double(try await store.mediaBytes()))
        for state in JobState.allCases {
            set("jobs", to: Double(counts.byState[state] ?? 0), labels: ("state", state.rawValue))
        }
        set("jobs_due", to: Double(counts.due))
        set("jobs_paused", to: Double(counts.paused))
        set("jobs_oldest_due_seconds", to: counts.oldestDue.map { max(0, Date.now.timeIntervalSince($0)) } ?? 0)
        for state in WebhookState.allCases {
            set("outbox_webhooks", to: Double(webhooks[state] ?? 0), labels: ("state", state.rawValue))
        }
    }
}
