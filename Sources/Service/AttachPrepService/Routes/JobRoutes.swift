import AttachPrep
package import AttachPrepJobs
package import AttachPrepModel
import HTTPTypes
import Hummingbird
import RichPush
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
            Endpoint(method: .get, path: "/v1/jobs/{id}", respond: show),
            Endpoint(method: .delete, path: "/v1/jobs/{id}", respond: cancel),
            Endpoint(method: .post, path: "/v1/jobs/{id}/retry", respond: retry),
            Endpoint(method: .get, path: "/v1/jobs/{id}/log", respond: log),
            Endpoint(method: .post, path: "/v1/jobs/purge", respond: purge),
            Endpoint(method: .post, path: "/v1/jobs/retry", respond: retryAll),
        ]
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let query = QueryParameters(request)
        let filter = try JobFilter(query)
        let page = try await store.list(
            filter, after: try query.name("cursor", JobID.init), limit: try query.limit())
        return try JSONResponse.response(
            JobPageResponse(jobs: page.jobs.map { $0.located(at: baseURL) }, next: page.next))
    }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await job(context)
        guard let seconds = PreferHeader(request.headers[values: .prefer]).waitSeconds, request.method != .head else {
            return try JSONResponse.response(job.located(at: baseURL))
        }
        let ended = try await waiters.end(of: job.id, before: .now.advanced(by: .seconds(clamping: seconds)))
        return try JSONResponse.response(
            ended.located(at: baseURL), headers: [.preferenceApplied: "wait=\(seconds)"])
    }

    @Sendable private func cancel(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await store.cancel(try id(context))
        return try JSONResponse.response(job.located(at: baseURL), status: .accepted)
    }

    @Sendable private func retry(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await store.retry(try id(context))
        return try JSONResponse.response(
            job.located(at: baseURL), status: .accepted, headers: [.location: "/v1/jobs/\(job.id)"])
    }

    @Sendable private func log(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await job(context)
        return try JSONResponse.response(JobLogResponse(try await store.log(of: job.id)))
    }

    @Sendable private func purge(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body: JobFilterBody = try await JSONBody.read(request, context)
        if let open = body.states?.first(where: { !$0.isFinished }) {
            throw AttachPrepError(
                .requestInvalid, "Jobs in state \(open.rawValue) cannot be purged; cancel them first.")
        }
        return try JSONResponse.response(["purged": try await store.purge(try body.filter())])
    }

    @Sendable private func retryAll(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body: JobFilterBody = try await JSONBody.read(request, context)
        if let other = body.states?.first(where: { !$0.isRetryable }) {
            throw AttachPrepError(
                .requestInvalid,
                "Jobs in state \(other.rawValue) cannot be retried; only failed, dead and cancelled jobs can.")
        }
        let filter = try body.filter()
        let retried = try await store.retry(filter)
        var rest = filter
        rest.states = (filter.states ?? Set(JobState.allCases)).filter(\.isRetryable)
        return try JSONResponse.response(["retried": retried, "left": try await store.count(rest)])
    }

    private func id(_ context: ServiceContext) throws -> JobID {
        guard let id = JobID(context.parameters.get("id") ?? "") else { throw Self.unknown }
        return id
    }

    private func job(_ context: ServiceContext) async throws -> Job {
        guard let job = try await store.job(try id(context)) else { throw Self.unknown }
        return job
    }

    static let unknown = AttachPrepError(
        .requestNotFound, "No such job, or its retention period has ended.")
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
