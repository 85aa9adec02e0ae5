import AttachPrep
package import AttachPrepJobs
package import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
package import RichPush
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
                query: [
                    "state", "error", "kind", "worker", "createdAfter", "createdBefore", "limit", "cursor", "search",
                ],
                respond: list),
            Endpoint(method: .get, path: "/v1/jobs/{id}", respond: show),
            Endpoint(method: .delete, path: "/v1/jobs/{id}", respond: cancel),
            Endpoint(method: .post, path: "/v1/jobs/{id}/retry", respond: retry),
            Endpoint(method: .post, path: "/v1/jobs/{id}/snooze", respond: snooze),
            Endpoint(method: .post, path: "/v1/jobs/{id}/run", respond: run),
            Endpoint(method: .get, path: "/v1/jobs/{id}/log", respond: log),
            Endpoint(method: .post, path: "/v1/jobs/purge", respond: purge),
            Endpoint(method: .post, path: "/v1/jobs/retry", respond: retryAll),
        ]
    }

    @Sendable private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let query = QueryParameters(request)
        let search = try query.value("search")
        guard search.map({ $0.count <= Limits.searchCharactersMax && !$0.contains("\0") }) ?? true else {
            throw AttachPrepError(
                .requestInvalid,
                "The query parameter \"search\" exceeds \(Limits.searchCharactersMax) characters or contains NUL.")
        }
        let filter = JobFilter(
            states: try query.choices("state", JobState.self), search: search?.isEmpty == true ? nil : search,
            createdBefore: try query.time("createdBefore"), errors: try query.choices("error", ErrorCode.self),
            createdAfter: try query.time("createdAfter"), kind: try query.choice("kind", MediaKind.self),
            worker: try query.name("worker") { name in
                1...Limits.workerNameCharactersMax ~= name.count && !name.contains("\0") ? name : nil
            })
        let page = try await store.list(
            filter, after: try query.name("cursor", JobID.init), limit: try query.limit())
        return try JSONResponse.response(
            JobPageResponse(jobs: page.jobs.map { $0.located(at: baseURL) }, next: page.next))
    }

    @Sendable private func show(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let job = try await job(context)
        guard let seconds = try PreferHeader(request).waitSeconds, request.method != .head else {
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

    @Sendable private func snooze(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let id = try id(context)
        let body: SnoozeBody = try await JSONBody.read(request, context)
        return try accepted(try await store.schedule(id, notBefore: try body.date()))
    }

    @Sendable private func run(_ request: Request, _ context: ServiceContext) async throws -> Response {
        try accepted(try await store.schedule(try id(context), notBefore: nil))
    }

    private func accepted(_ job: Job) throws -> Response {
        try JSONResponse.response(job.located(at: baseURL), status: .accepted)
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

/// Selects jobs for a bulk operation; all given conditions must match.
struct JobFilterBody: JSONRequest {
    static let keys: Set = ["states", "ids", "search", "createdBefore", "error"]

    let states: [JobState]?
    let ids: [JobID]?
    let search: String?
    let createdBefore: String?
    let error: ErrorCodes?

    /// - Throws: `request.invalid`, `request.too_large`.
    func filter() throws -> JobFilter {
        guard states != nil || ids != nil || search != nil || createdBefore != nil || error != nil else {
            throw AttachPrepError(
                .requestInvalid,
                "Set \"states\", \"ids\", \"search\", \"error\" or \"createdBefore\"; selecting all is not allowed.")
        }
        guard (ids?.count ?? 0) <= Limits.selectedIDsMax else {
            throw AttachPrepError(
                .requestTooLarge, "More than \(Limits.selectedIDsMax) \"ids\"; send several requests.")
        }
        guard search.map({ 1...Limits.searchCharactersMax ~= $0.count && !$0.contains("\0") }) ?? true else {
            throw AttachPrepError(
                .requestInvalid,
                "\"search\" must be 1 to \(Limits.searchCharactersMax) characters without NUL.")
        }
        let before = try createdBefore.map { text in
            guard let date = Timestamp.date(text) else {
                throw AttachPrepError(
                    .requestInvalid, "\"createdBefore\" must be an RFC 3339 time such as 2026-11-21T20:51:02Z.")
            }
            return date
        }
        return JobFilter(
            states: states.map(Set.init), search: search, ids: ids, createdBefore: before, errors: error?.all)
    }
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

/// One error code or a list of error codes.
struct ErrorCodes: Decodable {
    let all: Set<ErrorCode>

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // A string is one code, known or not; anything else is decoded, or rejected, as a list.
        let isOne = (try? value.decode(String.self)) != nil
        all = isOne ? [try value.decode(ErrorCode.self)] : Set(try value.decode([ErrorCode].self))
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

extension Limits {
    /// Characters of a search: longer than any word in names and URLs of jobs.
    package static let searchCharactersMax = 200
    /// IDs in one request: with them, its body is below 64 KB.
    static let selectedIDsMax = 1_000
    /// Characters of a worker's name: the longest host name, and a process ID.
    static let workerNameCharactersMax = 300
}
