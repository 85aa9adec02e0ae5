import AttachPrepJobs
import HTTPTypes
import Hummingbird
import RichPush
import SafeArithmetic

/// Jobs that are there: shown, listed, called off, asked for again, removed.
struct JobRoutes: Sendable {
    let store: any JobStore
    let waiters: JobWaiters
    let baseURL: String?

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: .get, path: "/v1/jobs", query: ["state", "error", "limit", "cursor", "search"],
                respond: list),
            Endpoint(method: .get, path: "/v1/jobs/{id}", respond: show),
            Endpoint(method: .delete, path: "/v1/jobs/{id}", respond: cancel),
            Endpoint(method: .post, path: "/v1/jobs/{id}/retry", respond: retry),
            Endpoint(method: .get, path: "/v1/jobs/{id}/log", respond: log),
            Endpoint(method: .post, path: "/v1/jobs/purge", respond: purge),
            Endpoint(method: .post, path: "/v1/jobs/retry", respond: retryAll),
        ]
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let query = Query(request)
        let search = try query.value("search")
        guard search.map({ $0.count <= Limits.searchCharactersMax && !$0.contains("\0") }) ?? true else {
            throw AttachPrepError(
                .requestInvalid, "The query's \"search\" has over \(Limits.searchCharactersMax) characters, or a zero.")
        }
        let filter = JobFilter(
            states: try query.words("state", JobState.self), search: search?.isEmpty == true ? nil : search,
            errors: try query.words("error", ErrorCode.self))
        let page = try await store.list(
            filter, after: try query.name("cursor", JobID.init), limit: try query.limit())
        return try JSONAnswer.response(
            JobPageAnswer(jobs: page.jobs.map { $0.located(at: baseURL) }, next: page.next))
    }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await job(context)
        guard let seconds = Preference(request.headers[values: .prefer]).waitSeconds, request.method != .head else {
            return try JSONAnswer.response(job.located(at: baseURL))
        }
        let ended = try await waiters.end(of: job.id, before: .now.advanced(by: .seconds(clamping: seconds))) {
            guard let job = try await store.job(job.id) else { throw Self.unknown }
            return job
        }
        return try JSONAnswer.response(
            ended.located(at: baseURL), headers: [.preferenceApplied: "wait=\(seconds)"])
    }

    @Sendable private func cancel(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await store.cancel(try id(context))
        return try JSONAnswer.response(job.located(at: baseURL), status: .accepted)
    }

    @Sendable private func retry(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await store.retry(try id(context))
        return try JSONAnswer.response(
            job.located(at: baseURL), status: .accepted, headers: [.location: "/v1/jobs/\(job.id)"])
    }

    @Sendable private func log(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await job(context)
        return try JSONAnswer.response(LogAnswer(try await store.log(of: job.id)))
    }

    @Sendable private func purge(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let order: PurgeOrder = try await JSONBody.read(request, context)
        return try JSONAnswer.response(PurgeAnswer(purged: try await store.purge(try order.filter())))
    }

    @Sendable private func retryAll(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let order: RetryOrder = try await JSONBody.read(request, context)
        return try JSONAnswer.response(RetryAnswer(retried: try await store.retry(try order.filter())))
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
        .requestNotFound, "There is no such job; it never was, or its time of keeping is over.")
}
