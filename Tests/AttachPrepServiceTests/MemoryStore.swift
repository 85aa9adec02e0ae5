import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Foundation
import MediaTypes
import Synchronization

/// A job store in memory, whose contents and errors the test sets.
final class MemoryStore: JobStore {
    struct State {
        var jobs: [JobID: Job] = [:]
        var keys: [String: (digest: String, ids: [JobID])] = [:]
        var logs: [JobLogLine] = []
        var webhooks: [Webhook] = []
        var pauses: [JobPause] = []
        var actions: [OperatorAction] = []
        var batchCallbacks: [JobID: String] = [:]
        var files: [String: StoredFile] = [:]
        var uploads: [MediaID: Upload] = [:]
        var discarded = 0
        /// The bytes of each reservation of an upload.
        var reserved: [Int] = []
        var pace: JobPace?
        /// The number of queries for counts.
        var countQueries = 0
        var error: AttachPrepError?
    }

    let state = Mutex(State())
    let folder: String
    let feed: JobFeed

    init(folder: String, feed: JobFeed) {
        self.folder = folder
        self.feed = feed
    }

    func change(_ job: JobID, _ change: (inout Job) -> Void) {
        let state = state.withLock { state in
            guard var found = state.jobs[job] else { return JobState.queued }
            change(&found)
            state.jobs[job] = found
            return found.state
        }
        feed.publish([JobFeed.Change(job: job, state: state)])
    }

    func resultSecret(of id: JobID) async throws -> SealedSecret? { nil }

    private func check() throws {
        if let error = state.withLock(\.error) { throw error }
    }

    func enqueue(_ submissions: [JobSubmission], idempotency: IdempotencyKey?) async throws -> EnqueuedJobs {
        try check()
        return try state.withLock { state in
            let name = idempotency.map { "\($0.caller) \($0.key)" }
            if let name, let known = state.keys[name] {
                guard known.digest == idempotency?.bodyDigest else {
                    throw AttachPrepError(.requestConflict, "This Idempotency-Key came with another body.")
                }
                return EnqueuedJobs(jobs: known.ids.compactMap { state.jobs[$0] }, areRepeated: true)
            }
            let jobs = submissions.map { submission in
                var job = Job(id: .make(), state: .queued, request: submission.request.shown, createdAt: .now)
                job.origin = submission.origin
                return job
            }
            for job in jobs { state.jobs[job.id] = job }
            if let name, let idempotency { state.keys[name] = (idempotency.bodyDigest, jobs.map(\.id)) }
            return EnqueuedJobs(jobs: jobs, areRepeated: false)
        }
    }

    func claim(_ count: Int, by worker: String, lease: Duration, hostLimit: Int) async throws -> [ClaimedJob] {
        []
    }
    func claimOverdue(
        _ count: Int, by worker: String, lease: Duration, waitSecondsMax: Double
    ) async throws -> [ClaimedJob] { [] }

    func schedule(_ id: JobID, notBefore: Date?) async throws -> Job {
        try check()
        change(id) { $0.request.jobOptions.notBefore = notBefore }
        guard let job = state.withLock({ $0.jobs[id] }), job.state == .queued else {
            throw AttachPrepError.stateConflict(id, state: nil, action: "cannot be scheduled")
        }
        return job
    }

    func extend(_ leases: [JobLease], by lease: Duration) async throws -> [JobID: LeaseStatus] { [:] }
    func finish(
        _ lease: JobLease, _ ending: JobCompletion, notice: WebhookNotice?, lines: [JobLogLine]
    ) async throws -> Bool { false }
    func postpone(
        _ lease: JobLease, until date: Date, error: ManifestError, isAttempt: Bool
    ) async throws -> Bool { false }
    func release(_ leases: [JobLease]) async throws {}
    func nextDue() async throws -> Date? { nil }

    func cancel(_ id: JobID) async throws -> Job {
        try known(id) { job in
            guard !job.state.isFinished else {
                throw AttachPrepError.stateConflict(id, state: job.state, action: "cannot be cancelled")
            }
            job.state = .cancelled
        }
    }

    func retry(_ id: JobID) async throws -> Job {
        try known(id) { job in
            guard job.state.isRetryable else {
                throw AttachPrepError.stateConflict(id, state: job.state, action: "cannot be retried")
            }
            job.state = .queued
        }
    }

    private func known(_ id: JobID, _ change: (inout Job) throws -> Void) throws -> Job {
        try check()
        return try state.withLock { state in
            guard var job = state.jobs[id] else { throw AttachPrepError(.requestNotFound, "There is no such job.") }
            try change(&job)
            state.jobs[id] = job
            return job
        }
    }

    func job(_ id: JobID) async throws -> Job? {
        try check()
        return state.withLock { $0.jobs[id] }
    }

    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        try check()
        let all = state.withLock { $0.jobs.values.sorted { $0.id > $1.id } }.filter { job in
            (filter.states?.contains(job.state) ?? true) && cursor.map { job.id < $0 } ?? true
                && filter.search.map { job.request.source.contains($0) } ?? true
                && filter.ids?.contains(job.id) ?? true
                && filter.kind.map { job.result?.attachment?.kind == $0 } ?? true
                && filter.createdAfter.map { job.createdAt >= $0 } ?? true
                && filter.createdBefore.map { job.createdAt < $0 } ?? true
                && filter.errors.map { codes in job.error.map { codes.contains($0.code) } ?? false } ?? true
                && Self.hasWords(of: filter, job)
        }
        return JobPage(jobs: Array(all.prefix(limit)), next: all.count > limit ? all[limit - 1].id : nil)
    }

    private static func hasWords(of filter: JobFilter, _ job: Job) -> Bool {
        filter.callerID.map { job.request.id == $0 } ?? true
            && filter.batch.map { job.origin.batch == $0 } ?? true
            && filter.idempotencyKey.map { job.origin.idempotencyKey == $0 } ?? true
            && filter.tags.allSatisfy(job.request.jobOptions.tags.contains)
            && filter.host.map { job.request.source.contains("//\($0)/") } ?? true
    }

    func count(_ filter: JobFilter) async throws -> Int { try await list(filter, after: nil, limit: .max).jobs.count }

    func counts() async throws -> JobCounts {
        try check()
        return state.withLock { state in
            state.countQueries += 1
            let queued = state.jobs.values.filter { $0.state == .queued }
            return JobCounts(
                byState: Dictionary(grouping: state.jobs.values, by: \.state).mapValues(\.count),
                byError: Dictionary(grouping: state.jobs.values.compactMap { $0.error?.code }) { $0 }
                    .mapValues(\.count),
                due: queued.count, oldestDue: queued.map(\.createdAt).min())
        }
    }

    func history(until end: Date) async throws -> [JobPace.Interval] {
        Array(repeating: JobPace.Interval(), count: JobPace.hoursCount)
    }

    func pace(until end: Date) async throws -> JobPace { state.withLock(\.pace) ?? JobPace(until: end) }

    func retry(_ filter: JobFilter) async throws -> Int {
        let chosen = state.withLock { state in
            state.jobs.values.filter { job in
                job.state.isRetryable && filter.states?.contains(job.state) ?? true
                    && filter.ids?.contains(job.id) ?? true
                    && filter.errors.map { codes in job.error.map { codes.contains($0.code) } ?? false } ?? true
            }.map(\.id)
        }
        for id in chosen { _ = try await retry(id) }
        return chosen.count
    }

    func purge(_ filter: JobFilter) async throws -> Int {
        state.withLock { state in
            let purged = state.jobs.values.filter { job in
                job.state.isFinished && (filter.states?.contains(job.state) ?? true)
                    && (filter.ids?.contains(job.id) ?? true)
                    && filter.createdBefore.map { job.createdAt < $0 } ?? true
            }
            for job in purged { state.jobs[job.id] = nil }
            return purged.count
        }
    }

    func cancel(_ filter: JobFilter) async throws -> Int {
        let chosen = try await list(filter, after: nil, limit: .max - 1).jobs.filter { !$0.state.isFinished }
        for job in chosen { _ = try await cancel(job.id) }
        return chosen.count
    }

    func change(_ filter: JobFilter, to priority: JobPriority) async throws -> Int {
        let chosen = try await list(filter, after: nil, limit: .max - 1).jobs.filter { $0.state == .queued }
        for job in chosen { change(job.id) { $0.request.jobOptions.priority = priority } }
        return chosen.count
    }

    func log(of id: JobID) async throws -> [JobLogLine] { state.withLock { $0.logs.filter { $0.job == id } } }
    func append(_ lines: [JobLogLine]) async throws { state.withLock { $0.logs += lines } }

    func record(_ action: OperatorAction) async throws {
        state.withLock { state in
            var action = action
            action.number = Int64(state.actions.count + 1)
            state.actions.append(action)
        }
    }

    func actions(before number: Int64?, limit: Int) async throws -> [OperatorAction] {
        let all = state.withLock(\.actions).reversed().filter { $0.number < number ?? .max }
        return Array(all.prefix(limit))
    }

    func pauses() async throws -> [JobPause] { state.withLock(\.pauses) }

    func pause(_ target: PauseTarget, reason: String?, by caller: String?) async throws -> JobPause {
        let pause = JobPause(target: target, since: .now, caller: caller, reason: reason)
        state.withLock { state in
            state.pauses.removeAll { $0.target == target }
            state.pauses.insert(pause, at: 0)
        }
        return pause
    }

    func resume(_ target: PauseTarget) async throws -> Bool {
        state.withLock { state in
            defer { state.pauses.removeAll { $0.target == target } }
            return state.pauses.contains { $0.target == target }
        }
    }

    func result(for key: WorkKey) async throws -> StoredResult? { nil }
    func store(
        _ manifest: Manifest, folder: String?, for key: WorkKey, freshness: SourceFreshness?, fetchedAt: Date
    ) async throws -> StoredResult {
        StoredResult(media: .make(), manifest: manifest, freshness: freshness, fetchedAt: fetchedAt)
    }
    func renew(_ media: MediaID, _ freshness: SourceFreshness, fetchedAt: Date) async throws {}
    func file(_ name: String, of media: MediaID) async throws -> StoredFile? {
        state.withLock { $0.files["\(media)/\(name)"] }
    }

    func mediaBytes() async throws -> Int { 0 }

    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] { [] }
    func record(_ id: WebhookID, _ outcome: WebhookDeliveryResult) async throws {}
    func giveUpWebhooks(to url: String, error: String) async throws -> Int { 0 }
    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage {
        let all = state.withLock(\.webhooks).filter { webhook in
            (filter.states?.contains(webhook.state) ?? true) && filter.job.map { webhook.job == $0 } ?? true
        }
        return WebhookPage(webhooks: Array(all.prefix(limit)), next: all.count > limit ? all[limit - 1].id : nil)
    }
    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int {
        state.withLock(\.webhooks).filter { webhook in
            (filter.states?.contains(webhook.state) ?? true) && (filter.ids?.contains(webhook.id) ?? true)
        }.count
    }
    func webhookCounts() async throws -> [WebhookState: Int] { [:] }
    func notify(_ url: String, whenDone batch: JobID) async throws {
        state.withLock { $0.batchCallbacks[batch] = url }
    }
    func nextWebhookDue() async throws -> Date? { nil }

    func beginUpload(bytes: Int, by caller: String?) async throws -> UploadInProgress {
        try check()
        state.withLock { $0.reserved.append(bytes) }
        let id = MediaID.make()
        let path = "\(folder)/\(id)"
        try Data().write(to: URL(fileURLWithPath: path))
        return UploadInProgress(id: id, path: path)
    }

    func file(of upload: Upload) async throws -> String { upload.path }

    func store(_ upload: UploadInProgress, bytes: Int, sha256: String) async throws -> Upload {
        let kept = Upload(
            id: upload.id, path: upload.path, bytes: bytes, sha256: sha256, createdAt: .now,
            expiresAt: .now + Limits.uploadSecondsMax)
        state.withLock { $0.uploads[upload.id] = kept }
        return kept
    }

    func reserve(_ bytes: Int, for upload: UploadInProgress) async throws {
        state.withLock { $0.reserved.append(bytes) }
    }

    func discard(_ upload: UploadInProgress) async {
        try? FileManager.default.removeItem(atPath: upload.path)
        state.withLock { $0.discarded += 1 }
    }

    func upload(_ id: MediaID) async throws -> Upload? { state.withLock { $0.uploads[id] } }
}
