/// The tables of the read model: the SQLite driver's own for jobs, with what only the servers know of them.
enum MirrorSchema {
    /// `revision`, `heard_at`: of the change that was heard of last, `heard_at` by the steady clock. `begun`: the
    /// change with which the job began to run under the lease that it has, NULL while it does not run. `notices`: JSON.
    ///
    /// `draft`: jobs of batches that are not whole yet. `removed`: keys that are no more, so that what is heard of them
    /// late does not bring them back. `batch`: batches that are whole. `word`: callers' idempotency keys.
    ///
    /// Who claims by messages does not look for leases and hosts, and of keys only for those that are worked on;
    /// results are elsewhere. Indexes that nobody asks cost each change something.
    static let tables = """
        ALTER TABLE job ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE job ADD COLUMN heard_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE job ADD COLUMN batch TEXT;
        ALTER TABLE job ADD COLUMN begun INTEGER;
        ALTER TABLE job ADD COLUMN notices TEXT;
        ALTER TABLE job ADD COLUMN lost_by TEXT;
        DROP INDEX job_running_host;
        DROP INDEX job_lease;
        DROP INDEX job_media;
        DROP INDEX job_alive_key;
        CREATE INDEX job_running_key ON job (key) WHERE state = 'running';
        CREATE INDEX job_lost ON job (lost_by) WHERE lost_by IS NOT NULL;
        CREATE INDEX job_batch ON job (batch) WHERE batch IS NOT NULL;
        CREATE TABLE draft (
            uuid TEXT PRIMARY KEY, batch TEXT NOT NULL, revision INTEGER NOT NULL, heard_at INTEGER NOT NULL,
            value TEXT NOT NULL
        );
        CREATE INDEX draft_batch ON draft (batch);
        CREATE TABLE removed (
            uuid TEXT PRIMARY KEY, revision INTEGER NOT NULL, heard_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX removed_age ON removed (heard_at);
        CREATE TABLE batch (id TEXT PRIMARY KEY, heard_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE word (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX word_age ON word (created_at);
        """

    /// All of them, to be filled anew.
    static let names = ["job", "draft", "removed", "batch", "word"]
}
