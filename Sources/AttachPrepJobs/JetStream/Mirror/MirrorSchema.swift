/// The tables of the read model: the SQLite driver's own for jobs, and what the servers said.
enum MirrorSchema {
    /// `kept`: each job's latest value that was heard of, NULL for one that was removed; `heard_at` by the steady
    /// clock. `begun`: the change with which it began to run under the lease that it has, NULL while it does not run.
    /// It has row numbers, because values are longer than what a table without them keeps in place.
    /// `batch`: batches that are whole. `word`: callers' idempotency keys.
    static let tables = """
        CREATE TABLE kept (
            uuid TEXT PRIMARY KEY, revision INTEGER NOT NULL, heard_at INTEGER NOT NULL, batch TEXT, begun INTEGER,
            value BLOB
        );
        CREATE INDEX kept_batch ON kept (batch) WHERE batch IS NOT NULL;
        CREATE INDEX kept_removed ON kept (heard_at) WHERE value IS NULL;
        CREATE TABLE batch (id TEXT PRIMARY KEY, heard_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE word (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, created_at INTEGER NOT NULL) WITHOUT ROWID;
        CREATE INDEX word_age ON word (created_at);
        """
}
