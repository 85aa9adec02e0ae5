import AttachPrepJobs
import AttachPrepModel
import MediaTypes

/// The tables, in the types of `SQLDialect.definition`. Times are milliseconds since 1970; leases end by the clock of
/// `StoreMoment.steady`.
///
/// `job` holds what waits or runs and stays small; a job that ends moves to `finished_job` in the same transaction, so
/// that a week of history, and rows that PostgreSQL cannot vacuum yet, do not slow claims.
package enum StoreSchema {
    package static let version = 1

    /// Creates or upgrades the tables.
    ///
    /// - Throws: `queue.unavailable` when a newer version made them; `SQLError` without the right to create tables.
    package static func migrate(_ database: any SQLDatabase) async throws {
        if try await database.read({ try storedVersion(in: $0) }) == version { return }
        try await database.transact(.exclusive) { connection in
            // Checked again inside the transaction: another process may have migrated meanwhile.
            let found = try storedVersion(in: connection)
            guard found < version else { return }
            _ = try connection.run(statements(connection.dialect).map { SQLStatement($0) })
            try connection.run("INSERT INTO setting (name, value) VALUES ('schema', $1)", [.text("\(version)")])
        }
    }

    /// - Throws: `queue.unavailable` for a newer version.
    private static func storedVersion(in connection: any SQLConnection) throws -> Int {
        guard try !connection.run([connection.dialect.existence(of: "setting")])[0].rows.isEmpty else { return 0 }
        let text: String? = try connection.row("SELECT value FROM setting WHERE name = 'schema'")?[0]
        let found = text.flatMap { Int($0) } ?? 0
        guard found <= version else {
            throw AttachPrepError(
                .queueUnavailable,
                "The job database was written by a newer attachprep (format \(found), this version supports up to "
                    + "\(version)); update attachprep, or choose another database.", isRetryable: false)
        }
        return found
    }

    /// All statements that create the tables.
    package static func statements(_ dialect: SQLDialect) -> [String] {
        (tables + indexes(dialect) + initialRows).map(dialect.definition) + (dialect == .postgres ? settings : [])
    }

    /// What both job tables have. `lane`: 0 high, 1 normal, 2 bulk. `owner`: the name of the caller's token, empty
    /// without tokens. `host`: the group of jobs that share a limit (`JobSubmission.hostGroup`). `calls_back`: whether
    /// the request has a callback URL. `secret`: the secrets that `request` omits; empty once deleted. `origin`: JSON
    /// of `JobOrigin`.
    package static let sharedColumns = """
        id, state, lane, caller_id, source, error_code, owner, host, key, upload, attempts, losses, created_at, \
        started_at, not_before, not_after, token, worker, calls_back, request, secret, error, origin, \
        batch, idempotency_key
        """

    private static let sharedDefinitions = """
        id text PRIMARY KEY, state text NOT NULL, lane bigint NOT NULL, caller_id text, source text NOT NULL,
        error_code text, owner text NOT NULL, host text NOT NULL, key text NOT NULL, upload text,
        attempts bigint NOT NULL DEFAULT 0, losses bigint NOT NULL DEFAULT 0, created_at bigint NOT NULL,
        started_at bigint, not_before bigint, not_after bigint, token bigint, worker text,
        calls_back bigint NOT NULL, request text NOT NULL, secret text, error text, origin text,
        batch text, idempotency_key text
        """

    /// `due_at`: when it may run. `place`: its position among the due jobs of its lane, a time (`ClaimState`). `wait`:
    /// the reason for `due_at` (`JobWait`). `waits_since`: since when it waits for a dependency that is away. `parked`:
    /// why claims skip it for now (`ParkingReason`). `claim_number`: the number of the claim that took it. `expires_at`
    /// of `dispatch`: until when arrivals are counted. `has_surplus`: whether more arrivals came than it has
    /// recipients. `report`: a digest of the report id that the device chose. `campaign_bucket`: number of durations
    /// per `MillisecondBucket`; `kind` is a `CampaignDuration`. `content`: a row exists until its file is removed.
    /// `used_at` of `result`: when a job last ended with it. `writer`: what each connection has committed
    /// (`WriterCounts`). `target` of `pause`: a `PauseTarget`. `action`: what operators did. `batch`: batches with a
    /// webhook; `url` is sealed like secrets.
    private static let tables = [
        "CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL)",
        """
        CREATE TABLE job (
            \(sharedDefinitions), due_at bigint NOT NULL, place bigint NOT NULL, wait bigint NOT NULL DEFAULT 0,
            parked bigint NOT NULL DEFAULT 0, claim_number bigint, lease_until bigint,
            cancelling bigint NOT NULL DEFAULT 0, waits_since bigint
        )
        """,
        """
        CREATE TABLE finished_job (
            \(sharedDefinitions), finished_at bigint NOT NULL, media text, kind text, result text
        )
        """,
        """
        CREATE TABLE claim_state (
            id bigint PRIMARY KEY, number bigint NOT NULL, running_floor bigint NOT NULL, parked bigint NOT NULL,
            high_floor bigint NOT NULL, normal_floor bigint NOT NULL, bulk_floor bigint NOT NULL
        )
        """,
        """
        CREATE TABLE writer (
            slot bigint PRIMARY KEY, number bigint NOT NULL, seen_at bigint NOT NULL, queued bigint NOT NULL,
            running bigint NOT NULL, succeeded bigint NOT NULL, failed bigint NOT NULL, dead bigint NOT NULL,
            cancelled bigint NOT NULL, media_bytes bigint NOT NULL
        )
        """,
        "CREATE TABLE job_tag (tag text NOT NULL, job text NOT NULL, PRIMARY KEY (tag, job))",
        """
        CREATE TABLE job_line (
            id identity, job text NOT NULL, date bigint NOT NULL, level text NOT NULL, line text NOT NULL
        )
        """,
        """
        CREATE TABLE idempotency (
            caller text NOT NULL, key text NOT NULL, digest text NOT NULL, created_at bigint NOT NULL,
            jobs text NOT NULL, PRIMARY KEY (caller, key)
        )
        """,
        """
        CREATE TABLE webhook (
            id text PRIMARY KEY, job text NOT NULL, state text NOT NULL, host text NOT NULL, url text NOT NULL,
            secret text, event text NOT NULL, body text NOT NULL, attempts bigint NOT NULL DEFAULT 0,
            created_at bigint NOT NULL, next_at bigint, lease_until bigint, ended_at bigint, last_status bigint,
            last_error text, trace text
        )
        """,
        """
        CREATE TABLE result (
            media text PRIMARY KEY, key text NOT NULL, manifest text NOT NULL, freshness text, fresh_until bigint,
            fetched_at bigint NOT NULL, used_at bigint NOT NULL, bytes bigint NOT NULL
        )
        """,
        """
        CREATE TABLE result_file (
            media text NOT NULL REFERENCES result (media) ON DELETE CASCADE, name text NOT NULL,
            mime_type text NOT NULL, bytes bigint NOT NULL, sha256 text NOT NULL, PRIMARY KEY (media, name)
        )
        """,
        "CREATE TABLE content (sha256 text PRIMARY KEY, bytes bigint NOT NULL)",
        """
        CREATE TABLE upload (
            id text PRIMARY KEY, owner text NOT NULL, bytes bigint NOT NULL, sha256 text NOT NULL,
            created_at bigint NOT NULL, expires_at bigint NOT NULL
        )
        """,
        "CREATE TABLE unknown_file (name text PRIMARY KEY, found_at bigint NOT NULL)",
        "CREATE TABLE worker (name text PRIMARY KEY, report text NOT NULL, seen_at bigint NOT NULL)",
        "CREATE TABLE batch (id text PRIMARY KEY, url text NOT NULL, created_at bigint NOT NULL, ended_at bigint)",
        """
        CREATE TABLE action (
            id identity, date bigint NOT NULL, caller text, kind text NOT NULL, detail text NOT NULL
        )
        """,
        """
        CREATE TABLE pause (
            target text NOT NULL, name text NOT NULL, since bigint NOT NULL, caller text, reason text,
            PRIMARY KEY (target, name)
        )
        """,
        """
        CREATE TABLE campaign (
            id identity, name text NOT NULL UNIQUE, dispatches bigint NOT NULL DEFAULT 0,
            recipients bigint NOT NULL DEFAULT 0, attached bigint NOT NULL DEFAULT 0,
            thumbnail bigint NOT NULL DEFAULT 0, plain bigint NOT NULL DEFAULT 0,
            send_longest bigint NOT NULL DEFAULT 0, attach_longest bigint NOT NULL DEFAULT 0,
            first_sent_at bigint NOT NULL, last_sent_at bigint NOT NULL, first_arrival_at bigint,
            last_arrival_at bigint, used_at bigint NOT NULL
        )
        """,
        """
        CREATE TABLE campaign_bucket (
            campaign bigint NOT NULL REFERENCES campaign (id) ON DELETE CASCADE, kind bigint NOT NULL,
            bucket bigint NOT NULL, number bigint NOT NULL, PRIMARY KEY (campaign, kind, bucket)
        )
        """,
        """
        CREATE TABLE dispatch (
            id bigint PRIMARY KEY, campaign bigint NOT NULL, sent_at bigint NOT NULL, expires_at bigint NOT NULL,
            recipients bigint NOT NULL, arrivals bigint NOT NULL DEFAULT 0, has_surplus bigint NOT NULL DEFAULT 0
        )
        """,
        "CREATE TABLE receipt (dispatch bigint NOT NULL, report blob NOT NULL, PRIMARY KEY (dispatch, report))",
    ]

    /// No index has a column that a heartbeat changes (`lease_until`), so that PostgreSQL updates such rows in place.
    /// SQLite's indexes over finished jobs contain all columns of their queries, because rows contain manifests and
    /// each takes most of a page; PostgreSQL's index entries may not be as long as a URL.
    private static func indexes(_ dialect: SQLDialect) -> [String] {
        let searched = dialect == .sqlite ? ", caller_id, source, error_code, kind, created_at" : ""
        return [
            "CREATE INDEX job_queued ON job (lane, place, id) WHERE state = 'queued' AND parked = 0",
            "CREATE INDEX job_host_parked ON job (host, lane, place) WHERE state = 'queued' AND parked = 1",
            "CREATE INDEX job_key_parked ON job (key, lane, place) WHERE state = 'queued' AND parked = 2",
            "CREATE INDEX job_owner_parked ON job (owner, lane, place) WHERE state = 'queued' AND parked = 3",
            "CREATE INDEX job_not_after ON job (not_after) WHERE state = 'queued' AND not_after IS NOT NULL",
            "CREATE INDEX job_waits ON job (waits_since) WHERE state = 'queued' AND waits_since IS NOT NULL",
            "CREATE INDEX job_running ON job (claim_number) WHERE state = 'running'",
            "CREATE INDEX job_key ON job (key)",
            "CREATE INDEX job_upload ON job (upload) WHERE upload IS NOT NULL",
            "CREATE INDEX finished_listed ON finished_job (state, id\(searched))",
            "CREATE INDEX finished_at ON finished_job (state, finished_at, created_at, not_before)",
            "CREATE INDEX finished_error ON finished_job (error_code) WHERE state IN ('failed', 'dead')",
            "CREATE INDEX finished_media ON finished_job (media, owner) WHERE media IS NOT NULL",
            "CREATE INDEX finished_upload ON finished_job (upload) WHERE upload IS NOT NULL",
            "CREATE INDEX job_named ON job (caller_id) WHERE caller_id IS NOT NULL",
            "CREATE INDEX job_batch ON job (batch) WHERE batch IS NOT NULL",
            "CREATE INDEX job_idempotency ON job (idempotency_key) WHERE idempotency_key IS NOT NULL",
            "CREATE INDEX finished_named ON finished_job (caller_id, state, id) WHERE caller_id IS NOT NULL",
            "CREATE INDEX finished_batch ON finished_job (batch, state, id) WHERE batch IS NOT NULL",
            """
            CREATE INDEX finished_idempotency ON finished_job (idempotency_key, state, id)
            WHERE idempotency_key IS NOT NULL
            """,
            "CREATE INDEX finished_host ON finished_job (\(dialect.hostOfGroup), state, id)",
            "CREATE INDEX job_tag_job ON job_tag (job)",
            "CREATE INDEX job_line_job ON job_line (job)",
            "CREATE INDEX idempotency_age ON idempotency (created_at)",
            "CREATE INDEX webhook_job ON webhook (job)",
            "CREATE INDEX webhook_state ON webhook (state, id)",
            "CREATE INDEX webhook_due ON webhook (host, next_at) WHERE state = 'pending' AND lease_until IS NULL",
            "CREATE INDEX webhook_leased ON webhook (host) WHERE state = 'pending' AND lease_until IS NOT NULL",
            "CREATE INDEX result_key ON result (key, fetched_at)",
            "CREATE INDEX result_use ON result (used_at)",
            "CREATE INDEX result_file_content ON result_file (sha256)",
            "CREATE INDEX upload_age ON upload (expires_at)",
            "CREATE INDEX batch_open ON batch (id) WHERE ended_at IS NULL",
            "CREATE INDEX action_date ON action (date)",
            "CREATE INDEX campaign_use ON campaign (used_at)",
            "CREATE INDEX dispatch_age ON dispatch (expires_at)",
        ]
    }

    private static let initialRows = ["INSERT INTO claim_state VALUES (1, 0, 0, 0, 0, 0, 0)"]

    /// The tables whose rows change most are vacuumed by a number of dead rows, not by a share of a growing table, and
    /// their pages keep free space for updates in place.
    private static let settings = ["job", "writer", "webhook", "claim_state", "worker", "campaign"].map { table in
        """
        ALTER TABLE \(table) SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, \
        autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0, \
        autovacuum_analyze_threshold = 5000, autovacuum_vacuum_cost_delay = 0)
        """
    }
}
