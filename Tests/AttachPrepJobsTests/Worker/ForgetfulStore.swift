import AttachPrep
import AttachPrepJobs
import Foundation
import RichPush
import SQLiteQueue
import Synchronization

/// A store that can be made to take leases for lost, to have lost workers, or not to answer.
final class ForgetfulStore: JobQueue, JobCatalog, ResultStore, WebhookOutbox, UploadStore {
    private struct State {
        var isForgetful = false
        var isFailing = false
        var losses: Int?
    }

    private let store: SQLiteStore
    private let state = Mutex(State())

    init(_ store: SQLiteStore) {
        self.store = store
    }

    func forget() { state.withLock { $0.isForgetful = true } }
    func lose(_ losses: Int) { state.withLock { $0.losses = losses } }
    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

    private func answering() throws -> SQLiteStore {
        if state.withLock({ $0.isFailing }) { throw AttachPrepError(.queueUnavailable, "The disk is full.") }
        return store
    }

    func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus] {
        if state.withLock({ $0.isForgetful }) {
            return Dictionary(uniqueKeysWithValues: leases.map { ($0.job, .lost) })
        }
        return try await answering().extend(leases, by: lease)
    }

    func enqueue(_ submissions: [JobSubmission], idempotency: IdempotencyKey?) async throws -> EnqueuedJobs {
        try await answering().enqueue(submissions, idempotency: idempotency)
    }

    func claim(_ count: Int, by worker: String, lease: Duration, hostLimit: Int) async throws -> [ClaimedJob] {
        let losses = state.withLock { $0.losses }
        return try await answering().claim(count, by: worker, lease: lease, hostLimit: hostLimit).map { job in
            var job = job
            job.losses = losses ?? job.losses
            return job
        }
    }

    func finish(_ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?) async throws -> Bool {
        try await answering().finish(lease, ending, notice: notice)
    }

    func postpone(
        _ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool
    ) async throws -> Bool {
        try await answering().postpone(lease, until: date, error: error, isAttempt: isAttempt)
    }

    func release(_ leases: [JobLease]) async throws { try await answering().release(leases) }
    func cancel(_ id: JobID) async throws -> Job { try await answering().cancel(id) }
    func retry(_ id: JobID) async throws -> Job { try await answering().retry(id) }
    func job(_ id: JobID) async throws -> Job? { try await answering().job(id) }
    func nextDue() async throws -> Date? { try await answering().nextDue() }

    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        try await answering().list(filter, after: cursor, limit: limit)
    }

    func counts() async throws -> JobCounts { try await answering().counts() }
    func pace(until end: Date) async throws -> JobPace { try await answering().pace(until: end) }
    func retry(_ filter: JobFilter) async throws -> Int { try await answering().retry(filter) }
    func purge(_ filter: JobFilter) async throws -> Int { try await answering().purge(filter) }
    func log(of id: JobID) async throws -> [JobLogLine] { try await answering().log(of: id) }
    func append(_ lines: [JobLogLine]) async throws { try await answering().append(lines) }

    func result(for key: WorkKey) async throws -> StoredResult? { try await answering().result(for: key) }

    func store(
        _ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date
    ) async throws -> StoredResult {
        try await answering().store(
            manifest, folder: folder, for: key, freshness: freshness, fetchedAt: fetchedAt)
    }

    func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {
        try await answering().renew(media, freshness, fetchedAt: fetchedAt)
    }

    func file(_ name: String, of media: MediaID) async throws -> StoredFile? {
        try await answering().file(name, of: media)
    }

    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        try await answering().claimWebhooks(count, lease: lease)
    }

    func record(_ id: WebhookID, _ outcome: WebhookDeliveryResult) async throws {
        try await answering().record(id, outcome)
    }

    func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        try await answering().giveUpWebhooks(to: url, error: error)
    }

    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage {
        try await answering().webhooks(filter, after: cursor, limit: limit)
    }

    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int { try await answering().replayWebhooks(filter) }
    func webhookCounts() async throws -> [WebhookState: Int] { try await answering().webhookCounts() }
    func nextWebhookDue() async throws -> Date? { try await answering().nextWebhookDue() }

    func beginUpload() async throws -> UploadInProgress { try await answering().beginUpload() }

    func keep(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload {
        try await answering().keep(upload, bytes: bytes, sha256: sha256)
    }

    func discard(_ upload: UploadInProgress) async { await store.discard(upload) }
    func upload(_ id: MediaID) async throws -> Upload? { try await answering().upload(id) }
}
