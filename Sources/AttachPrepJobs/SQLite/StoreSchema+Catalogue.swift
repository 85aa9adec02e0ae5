/// Indexes for those who look: since version 3.
extension StoreSchema {
    /// Each holds all that its question is about, so that no row is read for it: rows carry manifests and take most of
    /// a page each. `job_state`: what is searched (`JobSelection`), in a state. `job_finished`: how long it took
    /// (`PaceQuery`).
    static let catalogue = """
        DROP INDEX job_state;
        CREATE INDEX job_state ON job (state, uuid, caller_id, source, error_code);
        DROP INDEX job_finished;
        CREATE INDEX job_finished ON job (state, finished_at, created_at, not_before) WHERE finished_at IS NOT NULL;
        """
}
