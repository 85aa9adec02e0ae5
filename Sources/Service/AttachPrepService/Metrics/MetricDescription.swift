internal import AttachPrepJobs
internal import OTLP

/// The help text and histogram buckets of a metric.
public struct MetricDescription: Sendable, Hashable {
    /// The text of the `# HELP` line.
    public var help: String
    /// Upper bounds of a histogram's buckets, ascending; nil for `secondsBuckets`.
    public var buckets: [Double]?

    public init(_ help: String, buckets: [Double]? = nil) {
        self.help = help
        self.buckets = buckets
    }

    /// Buckets in seconds, from a reused result (1 ms) to a long movie (300 s).
    public static let secondsBuckets: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300,
    ]
}

extension MetricDescription {
    /// The metrics of the service, by name.
    ///
    /// | metric | labels |
    /// | --- | --- |
    /// | `attachprep_jobs` | `state` |
    /// | `attachprep_dependency_up` | `dependency`: bucket, database, disk, queue_key, resolver, signing_key |
    /// | `attachprep_outbox_webhooks` | `state` |
    /// | `attachprep_jobs_ended_total` | `state`, `code` (empty for success) |
    /// | `attachprep_job_retries_total` | `code` |
    /// | `attachprep_results_reused_total` | `kind`: shared, fresh, unchanged |
    /// | `attachprep_stage_seconds` | `stage`: as in a manifest's timings |
    /// | `attachprep_media_children_restarted_total` | `reason`: failed, recycled |
    /// | `attachprep_media_process_failures_total` | `cause`: deadline, memory, sandbox, crash and others |
    /// | `attachprep_http_request_duration_seconds` | `method`, `route` (`unknown` for other paths), `code` |
    /// | `attachprep_build_info` | `version`, `revision` (the commit) |
    public static let service: [String: MetricDescription] = [
        "attachprep_jobs": MetricDescription("Stored jobs, by state."),
        "attachprep_jobs_due": MetricDescription("Queued jobs that are due, without paused ones."),
        "attachprep_jobs_paused": MetricDescription("Queued jobs that would be due, and are held back by a pause."),
        "attachprep_jobs_oldest_due_seconds": MetricDescription("Seconds since the oldest due job became due."),
        "attachprep_dependency_up": MetricDescription(
            "Whether what the jobs of this worker need is there, 1 or 0; jobs wait for it without an attempt."),
        "attachprep_results_held": MetricDescription(
            "Results that are rendered and wait on this machine to be published."),
        "attachprep_outbox_webhooks": MetricDescription("Stored webhooks, by state; pending is the backlog."),
        "attachprep_media_bytes": MetricDescription("Bytes of stored result files."),
        "attachprep_media_quota_bytes": MetricDescription("The quota for stored result files, where one applies."),
        "attachprep_database_up": MetricDescription("Whether this scrape reached the PostgreSQL database, 1 or 0."),
        "attachprep_database_dead_rows": MetricDescription(
            "Dead rows of the table of waiting and running jobs, in PostgreSQL; many slow claims down."),
        "attachprep_database_oldest_transaction_seconds": MetricDescription(
            "Age of the oldest transaction in PostgreSQL that keeps dead rows."),
        "attachprep_jobs_ended_total": MetricDescription(
            "Ended jobs, by state and error code (empty on success)."),
        "attachprep_job_attempts_total": MetricDescription("Attempts to process jobs."),
        "attachprep_job_retries_total": MetricDescription(
            "Failed attempts that are retried, by error code."),
        "attachprep_results_reused_total": MetricDescription(
            "Jobs completed without work: shared with another job, still fresh, or unchanged at the origin."),
        "attachprep_job_wait_seconds": MetricDescription(
            "Time from when a job was due until it started.", buckets: secondsBuckets + [1_800, 7_200]),
        "attachprep_stage_seconds": MetricDescription("Time in each stage of a preparation."),
        "attachprep_download_bytes_total": MetricDescription("Bytes downloaded from origins."),
        "attachprep_download_loops_abandoned_total": MetricDescription(
            "Download threads abandoned because libcurl did not return from a call."),
        "attachprep_media_children_restarted_total": MetricDescription(
            "Media processes replaced after a failure or by scheduled recycling."),
        "attachprep_media_process_failures_total": MetricDescription("Media processes that failed, by cause."),
        "attachprep_media_processes": MetricDescription("Running media processes."),
        "attachprep_media_process_resident_memory_bytes": MetricDescription(
            "Resident memory of all running media processes."),
        "attachprep_media_process_cpu_seconds_total": MetricDescription(
            "Processor time of all media processes, those that have ended included."),
        "attachprep_quarantine_strikes_total": MetricDescription(
            "Ends of media processes that were counted against the content of a file."),
        "attachprep_quarantine_rejections_total": MetricDescription("Rejections of content that is in quarantine."),
        ReceiptMetrics.receiptsLabel: MetricDescription(
            "Receipts of devices, by outcome, or why they were not counted (repeated, surplus, expired, refused)."),
        ReceiptMetrics.secondsLabel: MetricDescription(
            "Time from sending a payload until a device showed its attachment.",
            buckets: [0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 300, 1_800, 7_200, 86_400]),
        WebhookMetrics.triesLabel: MetricDescription(
            "Attempts to deliver webhooks, by outcome: delivered, retried, given_up."),
        WebhookMetrics.secondsLabel: MetricDescription("Duration of an attempt to deliver a webhook."),
        SpanMetrics.spansLabel: MetricDescription(
            "Spans of traces, by outcome: exported, dropped (the queue was full), failed (not accepted)."),
        HTTPMetrics.secondsLabel: MetricDescription(
            "Time from a request's head until the head of its response.", buckets: HTTPMetrics.buckets),
        "attachprep_build_info": MetricDescription("The version and commit of the program; the value is 1."),
        "process_cpu_seconds_total": MetricDescription("Processor time of this process, without media processes."),
        "process_resident_memory_bytes": MetricDescription("Resident memory of this process."),
        "process_open_fds": MetricDescription("Open file descriptors of this process."),
        "process_max_fds": MetricDescription("The limit of open file descriptors of this process."),
        "process_start_time_seconds": MetricDescription("Start of this process in seconds since 1970."),
    ]
}
