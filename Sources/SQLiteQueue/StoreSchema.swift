import AttachPrepJobs
package import GRDB

/// The database schema. Times are milliseconds since 1970; those of leases are milliseconds since boot.
package enum StoreSchema {
    /// `application_id` in the file header, which identifies the database: "ATPR".
    package static let applicationID = 0x4154_5052
    package static let version = 1

    /// The SQL that each version added.
    private static let steps = [[jobs, tallies, webhooks, results, UnknownFiles.schema, receipts]]

    /// The tables of jobs and webhooks, without those of results and receipts.
    package static let jobTables = [jobs, tallies, webhooks]

    /// Creates or upgrades the schema.
    package static func make(in database: Database) throws {
        guard try found(in: database) < version else { return }
        try database.inTransaction(.immediate) {
            // Checked again inside the write transaction: another process may have upgraded meanwhile.
            let found = try found(in: database)
            guard found < version else { return .commit }
            for part in steps.dropFirst(max(0, found)).joined() { try database.execute(sql: part) }
            try database.execute(sql: "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
            return .commit
        }
    }

    private static func found(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    /// `lane`: 0 high, 1 normal, 2 bulk. `owner`: the name of the caller's token, empty without tokens. `host`: the
    /// group of jobs that share a limit (`JobSubmission.hostGroup`). `wait`: the reason for `due_at` (`JobWait`).
    /// `parked`: why claims skip the job for now (`JobParking`). `secret`: the secrets that `request` omits; empty once
    /// deleted. `origin`: JSON of `JobOrigin`.
    ///
    /// `job_state` and `job_finished` contain all columns of their queries (`JobSelection`, `PaceQuery`), so that no
    /// row is read: rows contain manifests, and each takes most of a page.
    private static let jobs = """
        CREATE TABLE job (
            id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, state TEXT NOT NULL, lane INTEGER NOT NULL,
            caller_id TEXT, source TEXT NOT NULL, error_code TEXT, owner TEXT NOT NULL DEFAULT '', host TEXT,
            key TEXT NOT NULL, upload TEXT,
            attempts INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
            due_at INTEGER NOT NULL, not_before INTEGER, wait INTEGER NOT NULL DEFAULT 0,
            parked INTEGER NOT NULL DEFAULT 0,
            token INTEGER, worker TEXT, lease_until INTEGER, cancelling INTEGER NOT NULL DEFAULT 0,
            media TEXT, request TEXT NOT NULL, secret TEXT, result TEXT, error TEXT, origin TEXT
        );
        CREATE INDEX job_state ON job (state, uuid, caller_id, source, error_code);
        CREATE INDEX job_queued ON job (lane, due_at) WHERE state = 'queued' AND parked = 0;
        CREATE INDEX job_host_parked ON job (host, lane, due_at) WHERE state = 'queued' AND parked = 1;
        CREATE INDEX job_key_parked ON job (key, lane, due_at) WHERE state = 'queued' AND parked = 2;
        CREATE INDEX job_owner_parked ON job (owner, lane, due_at) WHERE state = 'queued' AND parked = 3;
        CREATE INDEX job_running_owner ON job (owner) WHERE state = 'running';
        CREATE INDEX job_running_host ON job (host) WHERE state = 'running';
        CREATE INDEX job_lease ON job (lease_until) WHERE state = 'running';
        CREATE INDEX job_alive_key ON job (key, state) WHERE state IN ('queued', 'running');
        CREATE INDEX job_finished ON job (state, finished_at, created_at, not_before) WHERE finished_at IS NOT NULL;
        CREATE INDEX job_error ON job (error_code) WHERE state IN ('failed', 'dead');
        CREATE INDEX job_media ON job (media) WHERE media IS NOT NULL;
        CREATE INDEX job_upload ON job (upload) WHERE upload IS NOT NULL;
        CREATE TABLE job_line (
            id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
            date INTEGER NOT NULL, level TEXT NOT NULL, text TEXT NOT NULL
        );
        CREATE INDEX job_line_job ON job_line (job);
        CREATE TABLE idempotency (
            caller TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, created_at INTEGER NOT NULL,
            jobs TEXT NOT NULL, PRIMARY KEY (caller, key)
        ) WITHOUT ROWID;
        CREATE INDEX idempotency_age ON idempotency (created_at);
        """

    /// Counters maintained by triggers; counting would scan all rows.
    private static let tallies = """
        CREATE TABLE tally (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO tally VALUES ('queued', 0), ('running', 0), ('succeeded', 0), ('failed', 0), ('dead', 0),
            ('cancelled', 0), ('mediaBytes', 0);
        CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
            UPDATE tally SET number = number + 1 WHERE name = NEW.state;
        END;
        CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN OLD.state <> NEW.state BEGIN
            UPDATE tally SET number = number - 1 WHERE name = OLD.state;
            UPDATE tally SET number = number + 1 WHERE name = NEW.state;
        END;
        CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
            UPDATE tally SET number = number - 1 WHERE name = OLD.state;
        END;
        """

    /// `url_wiped`: a `WebhookRedaction.Mark`. `trace`: JSON of `TraceHeaders`.
    private static let webhooks = """
        CREATE TABLE webhook (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
            job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
            state TEXT NOT NULL, host TEXT NOT NULL, url TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, next_at INTEGER,
            lease_until INTEGER, ended_at INTEGER, last_status INTEGER, last_error TEXT,
            url_wiped INTEGER NOT NULL DEFAULT 0, trace TEXT
        );
        CREATE INDEX webhook_job ON webhook (job);
        CREATE INDEX webhook_state ON webhook (state, name);
        CREATE INDEX webhook_due ON webhook (host, next_at) WHERE state = 'pending' AND lease_until IS NULL;
        CREATE INDEX webhook_leased ON webhook (host) WHERE state = 'pending' AND lease_until IS NOT NULL;
        CREATE INDEX webhook_unexamined ON webhook (id) WHERE state = 'delivered' AND url_wiped = 0;
        """

    /// `used_at`: when a job last ended with it. A row of `content` exists until its file is removed.
    private static let results = """
        CREATE TABLE result (
            media TEXT PRIMARY KEY, key TEXT NOT NULL, manifest TEXT NOT NULL, freshness TEXT, fresh_until INTEGER,
            fetched_at INTEGER NOT NULL, used_at INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX result_key ON result (key, fetched_at);
        CREATE INDEX result_use ON result (used_at);
        CREATE TABLE result_file (
            media TEXT NOT NULL REFERENCES result (media) ON DELETE CASCADE, name TEXT NOT NULL,
            mime_type TEXT NOT NULL, bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (media, name)
        ) WITHOUT ROWID;
        CREATE INDEX result_file_content ON result_file (sha256);
        CREATE TABLE content (sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE upload (
            id TEXT PRIMARY KEY, owner TEXT NOT NULL DEFAULT '', bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
            created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX upload_age ON upload (expires_at);
        CREATE TRIGGER content_added AFTER INSERT ON content BEGIN
            UPDATE tally SET number = number + NEW.bytes WHERE name = 'mediaBytes';
        END;
        CREATE TRIGGER content_removed AFTER DELETE ON content BEGIN
            UPDATE tally SET number = number - OLD.bytes WHERE name = 'mediaBytes';
        END;
        CREATE TRIGGER upload_added AFTER INSERT ON upload BEGIN
            UPDATE tally SET number = number + NEW.bytes WHERE name = 'mediaBytes';
        END;
        CREATE TRIGGER upload_removed AFTER DELETE ON upload BEGIN
            UPDATE tally SET number = number - OLD.bytes WHERE name = 'mediaBytes';
        END;
        """
}

/// Receipts.
extension StoreSchema {
    /// `expires_at`: until when arrivals of a dispatch are counted. `has_surplus`: whether more arrivals came than it
    /// has recipients. `report`: a digest of the report id that the device chose. `used_at`: the last dispatch or
    /// arrival. `campaign_bucket`: number of durations per `MillisecondBucket`; `kind` is a `CampaignDuration`.
    package static let receipts = """
        CREATE TABLE campaign (
            id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
            dispatches INTEGER NOT NULL DEFAULT 0, recipients INTEGER NOT NULL DEFAULT 0,
            attached INTEGER NOT NULL DEFAULT 0, thumbnail INTEGER NOT NULL DEFAULT 0, text INTEGER NOT NULL DEFAULT 0,
            send_longest INTEGER NOT NULL DEFAULT 0, attach_longest INTEGER NOT NULL DEFAULT 0,
            first_sent_at INTEGER NOT NULL, last_sent_at INTEGER NOT NULL,
            first_arrival_at INTEGER, last_arrival_at INTEGER, used_at INTEGER NOT NULL
        );
        CREATE INDEX campaign_use ON campaign (used_at);
        CREATE TABLE campaign_bucket (
            campaign INTEGER NOT NULL REFERENCES campaign (id) ON DELETE CASCADE, kind INTEGER NOT NULL,
            bucket INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (campaign, kind, bucket)
        ) WITHOUT ROWID;
        CREATE TABLE dispatch (
            id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL, sent_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL, recipients INTEGER NOT NULL, arrivals INTEGER NOT NULL DEFAULT 0,
            has_surplus INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX dispatch_age ON dispatch (expires_at);
        CREATE TABLE receipt (
            dispatch INTEGER NOT NULL, report BLOB NOT NULL, PRIMARY KEY (dispatch, report)
        ) WITHOUT ROWID;
        """
}

/// The durations that are measured for an arrival.
enum CampaignDuration: Int, Sendable {
    case sendToAttach = 0
    case attach = 1
}

public enum SQLiteLibrary {
    /// Its version at run time; nil if it cannot open a database in memory.
    public static var version: String? {
        try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
    }
}
