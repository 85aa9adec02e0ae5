import AttachPrep
package import AttachPrepJobs
package import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
import MediaTypes
import SafeArithmetic

/// `/v1/jobs`: list, show, cancel, retry and purge jobs, and show their logs.
struct JobRoutes: Sendable {
    let store: any JobStore
    let waiters: JobWaiters
    let baseURL: String?

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: .get, path: "/v1/jobs",
                query: JobFilter.queryNames.union(["limit", "cursor"]), respond: list),
            Endpoint(method: .get, path: "/v1/jobs/{id}", roles: Self.ownOrRead, respond: show),
            Endpoint(method: .delete, path: "/v1/jobs/{id}", roles: Self.ownOrOperate, respond: cancel),
            Endpoint(method: .post, path: "/v1/jobs/{id}/retry", roles: Self.ownOrOperate, respond: retry),
            Endpoint(method: .post, path: "/v1/jobs/{id}/snooze", roles: Self.ownOrOperate, respond: snooze),
            Endpoint(method: .post, path: "/v1/jobs/{id}/run", roles: Self.ownOrOperate, respond: run),
            Endpoint(method: .get, path: "/v1/jobs/{id}/log", roles: Self.ownOrRead, respond: log),
            Endpoint(method: .post, path: "/v1/jobs/purge", roles: [.operate], respond: purge),
            Endpoint(method: .post, path: "/v1/jobs/retry", roles: [.operate], respond: retryAll),
            Endpoint(method: .post, path: "/v1/jobs/cancel", roles: [.operate], respond: cancelAll),
            Endpoint(method: .post, path: "/v1/jobs/priority", roles: [.operate], respond: changePriority),
            Endpoint(method: .get, path: "/v1/batches/{id}", respond: showBatch),
        ]
    }

    @Sendable private func list(_ request: Request, in context: ServiceContext) async throws -> Response {
        let query = QueryParameters(request)
        let filter = try JobFilter(query)
        let page = try await store.list(
            filter, after: try query.name("cursor", JobID.init), limit: try query.limit())
        return try JSONResponse.response(
            JobPageResponse(jobs: page.jobs.map { $0.located(at: baseURL) }, next: page.next))
    }

    @Sendable private func show(_ request: Request, in context: ServiceContext) async throws -> Response {
        let job = try await job(context)
        guard let seconds = try PreferHeader(request).waitSeconds, request.method != .head else {
            return try JSONResponse.response(try await result(job, in: context).located(at: baseURL))
        }
        let ended = try await waiters.end(of: job.id, before: .now.advanced(by: .seconds(clamping: seconds)))
        return try JSONResponse.response(
            try await result(ended, in: context).located(at: baseURL), headers: [.preferenceApplied: "wait=\(seconds)"])
    }

    /// The job, for its caller with the secret of its sealed result; whoever may only look at jobs does not learn it.
    private func result(_ job: Job, in context: ServiceContext) async throws -> Job {
        let isOwn = job.origin.caller == context.token && context.identity.roles.contains(.submit)
        return isOwn ? try await store.withSecret(job) : job
    }

    @Sendable private func cancel(_ request: Request, in context: ServiceContext) async throws -> Response {
        let job = try await store.cancel(try await ownJob(context, or: .operate).id)
        await context.record(.cancel, "job \(job.id)", in: store)
        return try JSONResponse.response(job.located(at: baseURL), status: .accepted)
    }

    @Sendable private func retry(_ request: Request, in context: ServiceContext) async throws -> Response {
        let job = try await store.retry(try await ownJob(context, or: .operate).id)
        await context.record(.retry, "job \(job.id)", in: store)
        return try JSONResponse.response(
            job.located(at: baseURL), status: .accepted, headers: [.location: job.path(below: baseURL)])
    }

    @Sendable private func snooze(_ request: Request, in context: ServiceContext) async throws -> Response {
        let id = try await ownJob(context, or: .operate).id
        let body: SnoozeBody = try await JSONBody.read(request, context)
        let job = try await store.schedule(id, notBefore: try body.date())
        await context.record(.schedule, "job \(id) to \(body.notBefore)", in: store)
        return try accepted(job)
    }

    @Sendable private func run(_ request: Request, in context: ServiceContext) async throws -> Response {
        let id = try await ownJob(context, or: .operate).id
        let job = try await store.schedule(id, notBefore: nil)
        await context.record(.schedule, "job \(id) to now", in: store)
        return try accepted(job)
    }

    private func accepted(_ job: Job) throws -> Response {
        try JSONResponse.response(job.located(at: baseURL), status: .accepted)
    }

    @Sendable private func log(_ request: Request, in context: ServiceContext) async throws -> Response {
        let job = try await job(context)
        return try JSONResponse.response(JobLogResponse(try await store.log(of: job.id)))
    }

    @Sendable private func purge(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: JobFilterBody = try await JSONBody.read(request, context)
        if let open = body.states?.first(where: { !$0.isFinished }) {
            throw AttachPrepError(
                .requestInvalid, "Jobs in state \(open.rawValue) cannot be purged; cancel them first.")
        }
        let filter = try body.filter()
        let purged = try await store.purge(filter)
        await context.record(.purge, "\(purged) jobs: \(filter.summary)", in: store)
        return try JSONResponse.response(["purged": purged])
    }

    @Sendable private func retryAll(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: JobFilterBody = try await JSONBody.read(request, context)
        if let other = body.states?.first(where: { !$0.isRetryable }) {
            throw AttachPrepError(
                .requestInvalid,
                "Jobs in state \(other.rawValue) cannot be retried; only failed, dead and cancelled jobs can.")
        }
        let filter = try body.filter()
        let retried = try await store.retry(filter)
        await context.record(.retry, "\(retried) jobs: \(filter.summary)", in: store)
        var rest = filter
        rest.states = (filter.states ?? Set(JobState.allCases)).filter(\.isRetryable)
        return try JSONResponse.response(["retried": retried, "left": try await store.count(rest)])
    }

    @Sendable private func cancelAll(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: JobFilterBody = try await JSONBody.read(request, context)
        if let ended = body.states?.first(where: \.isFinished) {
            throw AttachPrepError(
                .requestInvalid,
                "Jobs in state \(ended.rawValue) cannot be cancelled; only queued and running jobs can.")
        }
        let filter = try body.filter()
        let cancelled = try await store.cancel(filter)
        await context.record(.cancel, "\(cancelled) jobs: \(filter.summary)", in: store)
        return try JSONResponse.response(["cancelled": cancelled])
    }

    @Sendable private func changePriority(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body: JobPriorityBody = try await JSONBody.read(request, context)
        if let other = body.selection.states?.first(where: { $0 != .queued }) {
            throw AttachPrepError(
                .requestInvalid,
                "The priority of jobs in state \(other.rawValue) cannot be changed; only that of queued jobs can.")
        }
        let filter = try body.selection.filter()
        let changed = try await store.change(filter, to: body.priority)
        await context.record(
            .priority, "\(changed) jobs to \(body.priority.rawValue): \(filter.summary)", in: store)
        return try JSONResponse.response(["changed": changed])
    }

    @Sendable private func showBatch(_ request: Request, in context: ServiceContext) async throws -> Response {
        let id = try id(context)
        var filter = JobFilter()
        filter.batch = id.text
        let batch = JobBatch(id: id, try await store.countsByState(filter))
        guard batch.progress.jobs > 0 else {
            throw AttachPrepError(.requestNotFound, "No such batch, or the retention period of its jobs has ended.")
        }
        return try JSONResponse.response(batch)
    }

    private func id(_ context: ServiceContext) throws -> JobID {
        guard let id = JobID(context.parameters.get("id") ?? "") else { throw Self.unknown }
        return id
    }

    private static let ownOrRead: Set<Caller.Role> = [.submit, .read]
    private static let ownOrOperate: Set<Caller.Role> = [.submit, .operate]

    private func job(_ context: ServiceContext) async throws -> Job { try await ownJob(context, or: .read) }

    /// The job of a request, which is the caller's own unless it has a role for those of others.
    private func ownJob(_ context: ServiceContext, or role: Caller.Role) async throws -> Job {
        guard let job = try await store.job(try id(context)) else { throw Self.unknown }
        if context.identity.roles.contains(role) || job.origin.caller == context.token { return job }
        // As if it did not exist: the caller may not know of it.
        guard context.identity.roles.contains(.read) else { throw Self.unknown }
        throw Authenticator.roleProblem(context.identity, [role])
    }

    static let unknown = AttachPrepError(
        .requestNotFound, "No such job, or its retention period has ended.")
}

/// Until when a queued job does not start.
struct SnoozeBody: JSONRequest {
    static let keys: Set = ["notBefore"]

    let notBefore: String

    /// - Throws: `request.invalid`.
    func date() throws -> Date {
        guard let date = Timestamp.date(notBefore) else {
            throw AttachPrepError(
                .requestInvalid, "\"notBefore\" must be an RFC 3339 time such as 2026-11-21T20:51:02Z.")
        }
        return date
    }
}

struct JobsResponse: Encodable {
    /// The batch's ID, also in webhooks; nil for jobs that an earlier version accepted.
    @Nullable var batch: String?
    var jobs: [Job]
}

package struct JobPageResponse: Codable {
    package var jobs: [Job]
    @Nullable package var next: JobID?
}

package struct JobLogResponse: Codable {
    package struct Line: Codable {
        package var date: String
        package var level: String
        package var text: String
    }

    package var lines: [Line]

    init(_ lines: [JobLogLine]) {
        self.lines = lines.map { Line(date: Timestamp.text($0.date), level: $0.level, text: $0.text) }
    }
}
