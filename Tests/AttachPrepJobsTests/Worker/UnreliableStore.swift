import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import SQLStore
import SQLiteDatabase
import Synchronization

/// A store that a test can have report lost leases, report a number of losses, or fail.
final class UnreliableStore: JobQueue, JobCatalog, PauseStore, ActionLog, ResultStore, WebhookOutbox, UploadStore {
    private struct State {
        var losesLeases = false
        var isFailing = false
        var failuresLeft = 0
        var losses: Int?
    }

    private let store: SQLJobStore
    private let state = Mutex(State())

    init(_ store: SQLJobStore) {
        self.store = store
    }

    func loseLeases() { state.withLock { $0.losesLeases = true } }
    func report(losses: Int) { state.withLock { $0.losses = losses } }
    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }
    /// The next `count` calls fail.
    func fail(times count: Int) { state.withLock { $0.failuresLeft = count } }

    private func available() throws -> SQLJobStore {
        let isFailing = state.withLock { state in
            defer { state.failuresLeft = max(0, state.failuresLeft - 1) }
            return state.isFailing || state.failuresLeft > 0
        }
        if isFailing { throw AttachPrepError(.queueUnavailable, "The disk is full.") }
        return store
    }

    func resultSecret(of id: JobID) async throws -> SealedSecret? { try await available().resultSecret(of: id) }

    func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus] {
        if state.withLock({ $0.losesLeases }) {
            return Dictionary(uniqueKeysWithValues: leases.map { ($0.job, .lost) })
        }
        return try await available().extend(leases, by: lease)
    }

    func enqueue(_ submissions: [JobSubmission], idempotency: IdempotencyKey?) async throws -> EnqueuedJobs {
        try await available().enqueue(submissions, idempotency: idempotency)
    }

    func claim(_ count: Int, by worker: String, lease: Duration, hostLimit: Int) async throws -> [ClaimedJob] {
        let losses = state.withLock { $0.losses }
        return try await available().claim(count, by: worker, lease: lease, hostLimit: hostLimit).map { job in
            var job = job
            job.losses = losses ?? job.losses
            return job
        }
    }

    func claimOverdue(
        _ count: Int, by worker: String, lease: Duration, waitSecondsMax: Double
    ) async throws -> [ClaimedJob] {
        try await available().claimOverdue(count, by: worker, lease: lease, waitSecondsMax: waitSecondsMax)
    }

    func schedule(_ id: JobID, notBefore: Date?) async throws -> Job {
        try await available().schedule(id, notBefore: notBefore)
    }

    func finish(
        _ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?, lines: [JobLogLine]
    ) async throws -> Bool {
        try await available().finish(lease, ending, notice: notice, lines: lines)
    }

    func postpone(
        _ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool
    ) async throws -> Bool {
        try await available().postpone(lease, until: date, error: error, isAttempt: isAttempt)
    }

    func release(_ leases: [JobLease]) async throws { try await available().release(leases) }
    func cancel(_ id: JobID) async throws -> Job { try await available().cancel(id) }
    func retry(_ id: JobID) async throws -> Job { try await available().retry(id) }
    func job(_ id: JobID) async throws -> Job? { try await available().job(id) }
    func nextDue() async throws -> Date? { try await available().nextDue() }

    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        try await available().list(filter, after: cursor, limit: limit)
    }

    func count(_ filter: JobFilter) async throws -> Int { try await available().count(filter) }
    func counts() async throws -> JobCounts { try await available().counts() }
    func history(until end: Date) async throws -> [JobPace.Interval] { try await available().history(until: end) }
    func pace(until end: Date) async throws -> JobPace { try await available().pace(until: end) }
    func retry(_ filter: JobFilter) async throws -> Int { try await available().retry(filter) }
    func purge(_ filter: JobFilter) async throws -> Int { try await available().purge(filter) }
    func cancel(_ filter: JobFilter) async throws -> Int { try await available().cancel(filter) }
    func change(_ filter: JobFilter, to priority: JobPriority) async throws -> Int {
        try await available().change(filter, to: priority)
    }
    func log(of id: JobID) async throws -> [JobLogLine] { try await available().log(of: id) }
    func append(_ lines: [JobLogLine]) async throws { try await available().append(lines) }

    func record(_ action: OperatorAction) async throws { try await available().record(action) }
    func actions(before number: Int64?, limit: Int) async throws -> [OperatorAction] {
        try await available().actions(before: number, limit: limit)
    }
    func pauses() async throws -> [JobPause] { try await available().pauses() }

    func pause(_ target: PauseTarget, reason: String?, by caller: String?) async throws -> JobPause {
        try await available().pause(target, reason: reason, by: caller)
    }

    func resume(_ target: PauseTarget) async throws -> Bool { try await available().resume(target) }

    func result(for key: WorkKey) async throws -> StoredResult? { try await available().result(for: key) }

    func store(
        _ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date
    ) async throws -> StoredResult {
        try await available().store(
            manifest, folder: folder, for: key, freshness: freshness, fetchedAt: fetchedAt)
    }

    func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {
        try await available().renew(media, freshness, fetchedAt: fetchedAt)
    }

    func file(_ name: String, of media: MediaID) async throws -> StoredFile? {
        try await available().file(name, of: media)
    }

    func mediaBytes() async throws -> Int { try await available().mediaBytes() }

    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        try await available().claimWebhooks(count, lease: lease)
    }

    func record(_ id: WebhookID, _ outcome: WebhookDeliveryResult) async throws {
        try await available().record(id, outcome)
    }

    func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        try await available().giveUpWebhooks(to: url, error: error)
    }

    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage {
        try await available().webhooks(filter, after: cursor, limit: limit)
    }

    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int { try await available().replayWebhooks(filter) }
    func webhookCounts() async throws -> [WebhookState: Int] { try await available().webhookCounts() }
    func notify(_ url: String, whenDone batch: JobID) async throws {
        try await available().notify(url, whenDone: batch)
    }
    func nextWebhookDue() async throws -> Date? { try await available().nextWebhookDue() }

    func beginUpload(bytes: Int, by caller: String?) async throws -> UploadInProgress {
        try await available().beginUpload(bytes: bytes, by: caller)
    }

    func reserve(_ bytes: Int, for upload: UploadInProgress) async throws {
        try await available().reserve(bytes, for: upload)
    }

    func file(of upload: Upload) async throws -> String { try await available().file(of: upload) }

    func store(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload {
        try await available().store(upload, bytes: bytes, sha256: sha256)
    }

    func discard(_ upload: UploadInProgress) async { await store.discard(upload) }
    func upload(_ id: MediaID) async throws -> Upload? { try await available().upload(id) }
}
