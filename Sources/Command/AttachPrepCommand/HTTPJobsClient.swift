import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import MediaTypes

/// Access to the jobs of a running service over HTTP.
struct HTTPJobsClient: JobsClient {
    private let url: String
    private let token: String?
    private let sender: HTTPClient

    init(url: String, token: String?) throws {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.token = token
        // The service may be on a private network: its URL is given by the operator.
        sender = try HTTPClient(policy: DownloadPolicy(allowsPrivateNetwork: true))
    }

    func close() async {
        await sender.shutdown()
    }

    // MARK: Jobs

    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        var query = QueryString(limit: limit, cursor: cursor?.text)
        query.add("state", filter.states.map { $0.map(\.rawValue).sorted().joined(separator: ",") })
        query.add("search", filter.search)
        query.add("kind", filter.kind?.rawValue)
        query.add("createdAfter", filter.createdAfter.map(Timestamp.text))
        query.add("createdBefore", filter.createdBefore.map(Timestamp.text))
        query.add("error", filter.errors.map { $0.map(\.rawValue).sorted().joined(separator: ",") })
        query.add("callerID", filter.callerID)
        query.add("batch", filter.batch)
        query.add("idempotencyKey", filter.idempotencyKey)
        query.add("tag", filter.tags.isEmpty ? nil : filter.tags.joined(separator: ","))
        query.add("host", filter.host)
        let page: JobPageResponse = try await request(.get, path: "/v1/jobs\(query.text)")
        return JobPage(jobs: page.jobs, next: page.next)
    }

    func job(_ id: JobID) async throws -> Job { try await request(.get, path: "/v1/jobs/\(id)") }

    func log(of id: JobID) async throws -> [JobLogLine] {
        let log: JobLogResponse = try await request(.get, path: "/v1/jobs/\(id)/log")
        return log.lines.map {
            JobLogLine(job: id, date: Timestamp.date($0.date) ?? .distantPast, level: $0.level, text: $0.text)
        }
    }

    func retry(_ id: JobID) async throws -> Job { try await request(.post, path: "/v1/jobs/\(id)/retry") }

    func cancel(_ id: JobID) async throws -> Job { try await request(.delete, path: "/v1/jobs/\(id)") }

    func schedule(_ id: JobID, notBefore: Date?) async throws -> Job {
        guard let notBefore else { return try await request(.post, path: "/v1/jobs/\(id)/run") }
        let body = ["notBefore": Timestamp.text(notBefore)]
        return try await request(.post, path: "/v1/jobs/\(id)/snooze", body: [UInt8](try JSONEncoder().encode(body)))
    }

    /// A filter as the body of a request that acts on many jobs.
    private struct Selection: Encodable {
        var states: [JobState]?
        var ids: [JobID]?
        var search: String?
        var createdBefore: String?
        var createdAfter: String?
        var error: [ErrorCode]?
        var callerID: String?
        var batch: String?
        var idempotencyKey: String?
        var tag: [String]?
        var host: String?
        var priority: JobPriority?

        init(_ filter: JobFilter, priority: JobPriority? = nil) {
            self.priority = priority
            states = filter.states.map { $0.sorted { $0.rawValue < $1.rawValue } }
            (ids, search) = (filter.ids, filter.search)
            createdBefore = filter.createdBefore.map(Timestamp.text)
            createdAfter = filter.createdAfter.map(Timestamp.text)
            error = filter.errors.map(Array.init)
            (callerID, batch, idempotencyKey) = (filter.callerID, filter.batch, filter.idempotencyKey)
            (tag, host) = (filter.tags.isEmpty ? nil : filter.tags, filter.host)
        }
    }

    func purge(_ filter: JobFilter) async throws -> Int {
        try await count("purged", path: "/v1/jobs/purge", body: Selection(filter))
    }

    func retry(_ filter: JobFilter) async throws -> Int {
        try await count("retried", path: "/v1/jobs/retry", body: Selection(filter))
    }

    func cancel(_ filter: JobFilter) async throws -> Int {
        try await count("cancelled", path: "/v1/jobs/cancel", body: Selection(filter))
    }

    func change(_ filter: JobFilter, to priority: JobPriority) async throws -> Int {
        try await count("changed", path: "/v1/jobs/priority", body: Selection(filter, priority: priority))
    }

    private struct Pause: Encodable {
        var all: Bool?
        var lane: JobPriority?
        var host: String?
        var reason: String?

        init(_ target: PauseTarget, reason: String? = nil) {
            switch target {
            case .all: all = true
            case .lane(let lane): self.lane = lane
            case .host(let host): self.host = host
            }
            self.reason = reason
        }
    }

    func pauses() async throws -> [JobPause] {
        let response: PausesResponse = try await request(.get, path: "/v1/pauses")
        return response.pauses
    }

    func pause(_ target: PauseTarget, reason: String?) async throws -> JobPause {
        try await request(
            .post, path: "/v1/jobs/pause", body: [UInt8](try JSONEncoder().encode(Pause(target, reason: reason))))
    }

    func resume(_ target: PauseTarget) async throws -> Bool {
        let response: [String: Bool] = try await request(
            .post, path: "/v1/jobs/resume", body: [UInt8](try JSONEncoder().encode(Pause(target))))
        return response["resumed"] ?? false
    }

    private struct Overview: Decodable {
        /// Nil in the responses of earlier versions.
        var workers: [WorkerResponse]?
    }

    func workers() async throws -> [WorkerResponse] {
        let overview: Overview = try await request(.get, path: "/v1/overview")
        return overview.workers ?? []
    }

    // MARK: Webhooks

    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPageResponse {
        var query = QueryString(limit: limit, cursor: cursor?.text)
        query.add("state", filter.states.map { $0.map(\.rawValue).sorted().joined(separator: ",") })
        query.add("job", filter.job?.text)
        return try await request(.get, path: "/v1/webhooks\(query.text)")
    }

    private struct Replay: Encodable {
        var states: [WebhookState]?
        var ids: [String]?
    }

    func replay(_ filter: WebhookFilter) async throws -> Int {
        let replay = Replay(states: filter.states.map(Array.init), ids: filter.ids?.map(\.text))
        return try await count("replayed", path: "/v1/webhooks/replay", body: replay)
    }

    // MARK: Campaigns

    func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage {
        try await request(.get, path: "/v1/campaigns\(QueryString(limit: limit, cursor: cursor?.text).text)")
    }

    func campaign(_ name: CampaignName) async throws -> Campaign {
        try await request(.get, path: "/v1/campaigns/\(name)")
    }

    // MARK: Calls

    private func request<Value: Decodable>(_ method: HTTPClientRequest.Method, path: String, body: [UInt8] = [])
        async throws
        -> Value
    {
        var headers = [(name: "Accept", value: "application/json")]
        if !body.isEmpty { headers.append(("Content-Type", "application/json")) }
        if let token { headers.append(("Authorization", "Bearer \(token)")) }
        let response = try await sender.send(
            HTTPClientRequest(
                method, url + path, headers: headers, body: body, responseBytesMax: Limits.serviceResponseBytesMax,
                deadline: .now + .seconds(Limits.budgetSeconds)))
        guard response.isWhole else {
            throw AttachPrepError(
                .downloadTruncated,
                "The service's response is incomplete or exceeds \(Limits.serviceResponseBytesMax) bytes.")
        }
        guard 200..<300 ~= response.status else { throw Self.problem(response) }
        do {
            return try ForeignJSON.decode(
                Value.self, from: response.body, valuesMax: Limits.serviceResponseBytesMax)
        } catch {
            throw AttachPrepError(
                .internal, "The server at \(RedactedURL.redact(url)) is not an attachprep service; check --url.",
                detail: "\(error)")
        }
    }

    private struct ProblemResponse: Decodable {
        var code: ErrorCode
        var detail: String
    }

    /// The error of a problem response (RFC 9457).
    private static func problem(_ response: HTTPClientResponse) -> AttachPrepError {
        guard let problem = try? ForeignJSON.decode(ProblemResponse.self, from: response.body) else {
            return AttachPrepError(.internal, "The service responded with HTTP status \(response.status).")
        }
        return AttachPrepError(problem.code, problem.detail)
    }

    /// Sends a bulk request; the response is an object with the number of affected items.
    private func count(_ name: String, path: String, body: some Encodable) async throws -> Int {
        let response: [String: Int] = try await request(
            .post, path: path, body: [UInt8](try JSONEncoder().encode(body)))
        return response[name] ?? 0
    }
}

struct QueryString {
    private(set) var text: String

    init(limit: Int, cursor: String?) {
        text = "?limit=\(limit)"
        add("cursor", cursor)
    }

    /// Adds a value, percent-encoded.
    mutating func add(_ name: String, _ value: String?) {
        guard let value else { return }
        text += "&\(name)=\(PercentEncoding.encoded(value, keeping: ","))"
    }
}

extension Limits {
    /// Bytes of a service response that a command accepts: many times a page of jobs with manifests of 3 KB.
    static let serviceResponseBytesMax = 16_000_000
}
