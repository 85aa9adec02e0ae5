internal import AttachPrepJobs

extension MetricDescription {
    /// What the service counts, by name.
    public static let service: [String: MetricDescription] = [
        "attachprep_jobs": MetricDescription("Jobs there are, by state."),
        "attachprep_jobs_due": MetricDescription("Queued jobs that could run now."),
        "attachprep_jobs_oldest_due_seconds": MetricDescription("How long the oldest of those could have run."),
        "attachprep_outbox_webhooks": MetricDescription("Webhooks there are, by state; pending is the backlog."),
        "attachprep_media_bytes": MetricDescription("Bytes of the files that are kept."),
        "attachprep_jobs_ended_total": MetricDescription(
            "Jobs that ended, by state and error code (empty for success)."),
        "attachprep_job_attempts_total": MetricDescription("Attempts at jobs."),
        "attachprep_job_retries_total": MetricDescription(
            "Attempts that failed and are made again, by error code."),
        "attachprep_results_reused_total": MetricDescription(
            "Jobs that needed no work: shared with another job, still fresh, or unchanged at the origin."),
        "attachprep_claims_refused_total": MetricDescription(
            "Claims that the NATS servers refused because the job had another revision than was heard."),
        "attachprep_job_wait_seconds": MetricDescription(
            "From when a job could run until it ran.", buckets: secondsBuckets + [1_800, 7_200]),
        "attachprep_stage_seconds": MetricDescription("Time in each stage of a preparation."),
        "attachprep_download_bytes_total": MetricDescription("Bytes fetched from origins."),
        "attachprep_download_loops_abandoned_total": MetricDescription(
            "Download threads abandoned because libcurl did not return from a call."),
        "attachprep_media_children_restarted_total": MetricDescription(
            "Media children that were replaced, because they failed or had done their share."),
        ReceiptMetrics.receiptsLabel: MetricDescription(
            "Devices' receipts: what was shown, or why it is not counted (repeated, surplus, expired, refused)."),
        ReceiptMetrics.secondsLabel: MetricDescription(
            "From sending a payload until a device showed it with an attachment.",
            buckets: [0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 300, 1_800, 7_200, 86_400]),
        WebhookMetrics.triesLabel: MetricDescription("Tries of webhooks, by outcome: delivered, retried, given_up."),
        WebhookMetrics.secondsLabel: MetricDescription("Time of a try of a webhook."),
    ]
}
