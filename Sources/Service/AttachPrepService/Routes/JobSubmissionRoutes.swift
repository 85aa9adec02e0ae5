import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Crypto
import HTTPTypes
import Hummingbird
package import MediaTypes
import SafeArithmetic

/// `POST /v1/jobs`: enqueues a request or a batch.
struct JobSubmissionRoutes: Sendable {
    let store: any JobStore
    let validator: SubmissionValidator
    let waiters: JobWaiters
    let baseURL: String?

    var endpoints: [Endpoint] {
        [Endpoint(method: .post, path: "/v1/jobs", roles: [.submit], respond: submit)]
    }

    @Sendable private func submit(_ request: Request, in context: ServiceContext) async throws -> Response {
        let format = try SubmissionFormat(request)
        let body = try BoundedRequestBody(request, context, max: format.bytesMax)
        let keyHeader = try IdempotencyKeyHeader(request)
        let batchCallback = request.headers[.batchCallbackURL].flatMap { $0.isEmpty ? nil : $0 }
        try batchCallback.map { try validator.check(batchCallbackURL: $0) }
        let waitSeconds = try PreferHeader(request).waitSeconds
        guard waitSeconds == nil || format == .one else {
            throw Problem(
                .requestInvalid,
                "Prefer: wait is for one request as application/json; submit the batch without it, then wait for each "
                    + "job by GET /v1/jobs/{id}, or for its webhook.", status: 422)
        }
        let bytes = try await body.all()
        let key = keyHeader.map {
            IdempotencyKey(caller: context.caller, key: $0.text, bodyDigest: SHA256.hash(data: bytes).hexadecimal)
        }
        switch format {
        case .one:
            var submission = try await validator.submission(
                for: try AttachmentRequest(
                    json: bytes, defaults: AttachmentRequest(source: ""),
                    form: .whole(linesMediaType: SubmissionFormat.linesMediaType)), by: context.token)
            submission.origin.idempotencyKey = keyHeader?.text
            // A batch of one job.
            if batchCallback != nil { submission.origin.batch = JobID.make().text }
            let kept = try await store.enqueue([submission], idempotency: key)
            guard let job = kept.jobs.first else {
                throw AttachPrepError(.internal, "The service failed.", detail: "enqueue returned no job")
            }
            try await notify(batchCallback, whenDone: job)
            return try await answer(job, isRepeated: kept.areRepeated, waitSeconds: waitSeconds)
        case .lines:
            let origin = JobOrigin(batch: JobID.make().text, idempotencyKey: keyHeader?.text)
            let valid = try await JSONLinesBatch(bytes).submissions(validator, by: context.token)
            let submissions = valid.map { submission in
                var submission = submission
                submission.origin.batch = origin.batch
                submission.origin.idempotencyKey = origin.idempotencyKey
                return submission
            }
            let kept = try await store.enqueue(submissions, idempotency: key)
            if let first = kept.jobs.first { try await notify(batchCallback, whenDone: first) }
            return try JSONResponse.response(
                JobsResponse(
                    batch: kept.jobs.first?.origin.batch, jobs: kept.jobs.map { $0.located(at: baseURL) }),
                status: .accepted,
                headers: Self.fields(isRepeated: kept.areRepeated))
        }
    }

    /// Also after a repetition of the submission, which may follow a loss of the connection just here.
    private func notify(_ callback: String?, whenDone job: Job) async throws {
        guard let callback, let batch = job.origin.batch.flatMap(JobID.init) else { return }
        try await store.notify(callback, whenDone: batch)
    }

    /// Responds with the manifest if the caller waits (`Prefer: wait`) and the job ends in time, else with the job.
    private func answer(_ job: Job, isRepeated: Bool, waitSeconds: Int?) async throws -> Response {
        var fields = Self.fields(isRepeated: isRepeated)
        fields[.location] = job.path(below: baseURL)
        var job = job
        if let seconds = waitSeconds {
            fields[.preferenceApplied] = "wait=\(seconds)"
            job = try await waiters.end(of: job.id, before: .now.advanced(by: .seconds(clamping: seconds)))
            job = try await store.withSecret(job)
            if let manifest = job.located(at: baseURL).result, job.state.isFinished {
                return try JSONResponse.response(manifest, status: .ok, headers: fields)
            }
        }
        return try JSONResponse.response(job.located(at: baseURL), status: .accepted, headers: fields)
    }

    private static func fields(isRepeated: Bool) -> HTTPFields {
        isRepeated ? [.idempotencyReplayed: "true"] : [:]
    }
}

/// The format of the body: one JSON request, or JSON Lines.
enum SubmissionFormat {
    case one
    case lines

    static let linesMediaType = "application/x-ndjson"

    init(_ request: Request) throws {
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.trimmingSpaces.lowercased()
        switch type {
        case "application/json": self = .one
        case Self.linesMediaType, "application/jsonl": self = .lines
        default:
            throw BoundedRequestBody.wrongType(
                type, "application/json with one request, or application/x-ndjson with one request a line")
        }
    }

    var bytesMax: Int {
        switch self {
        case .one: Limits.requestBytesMax
        case .lines: Limits.batchBytesMax
        }
    }
}

/// The `Idempotency-Key` of a request, with or without the quotes that its IETF draft requires.
struct IdempotencyKeyHeader {
    let text: String

    /// Nil without the header.
    ///
    /// - Throws: `request.invalid`.
    init?(_ request: Request) throws {
        guard let field = request.headers[.idempotencyKey] else { return nil }
        let isQuoted = field.count > 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
        text = isQuoted ? String(field.dropFirst().dropLast()) : field
        let isVisible = field.utf8.allSatisfy { $0 >= 32 && $0 < 127 }
        guard !field.isEmpty, isVisible, field.utf8.count <= Limits.idempotencyKeyCharactersMax else {
            throw AttachPrepError(
                .requestInvalid,
                "Idempotency-Key must be 1 to \(Limits.idempotencyKeyCharactersMax) visible ASCII characters.")
        }
    }
}

/// A body of JSON Lines; empty lines are ignored.
struct JSONLines {
    /// The lines with their numbers, from 1.
    let lines: [(number: Int, bytes: ArraySlice<UInt8>)]

    /// - Throws: `request.invalid` for an empty body, `request.too_large` for more than `max` lines.
    init(_ bytes: [UInt8], max: Int) throws {
        let newline = UInt8(ascii: "\n")
        let all = bytes.split(separator: newline, omittingEmptySubsequences: false)
        lines = all.enumerated().map { (number: $0.offset.adding(clamping: 1), bytes: $0.element) }
            .filter { !$0.bytes.allSatisfy { [9, 13, 32].contains($0) } }
        guard !lines.isEmpty else {
            throw AttachPrepError(.requestInvalid, "The batch is empty; write one JSON object a line.")
        }
        guard lines.count <= max else {
            throw AttachPrepError(
                .requestTooLarge, "\(lines.count) requests exceed the limit of \(max); send several batches.")
        }
    }
}

/// A batch as JSON Lines: one request a line. Either all requests are accepted or none.
struct JSONLinesBatch {
    private let lines: [(number: Int, bytes: ArraySlice<UInt8>)]

    /// - Throws: `request.invalid` for an empty batch, `request.too_large` for more than `batchRequestsMax` requests.
    init(_ bytes: [UInt8]) throws {
        lines = try JSONLines(bytes, max: Limits.batchRequestsMax).lines
    }

    /// - Throws: A problem that lists each invalid line.
    func submissions(_ validator: SubmissionValidator, by caller: String?) async throws -> [JobSubmission] {
        var submissions: [JobSubmission] = []
        var errors: [Problem.Line] = []
        for line in lines {
            // Thousands of lines must not block a thread of the cooperative pool.
            if line.number.isMultiple(of: Self.linesAtOnce) { await Task.yield() }
            do {
                submissions.append(try await submission(line, validator: validator, by: caller))
            } catch let error as AttachPrepError {
                errors.append(Problem.Line(line: line.number, code: error.code, detail: error.message))
            }
        }
        guard errors.isEmpty else { throw Self.problem(errors, of: lines.count) }
        return submissions
    }

    private static let linesAtOnce = 50

    private func submission(
        _ line: (number: Int, bytes: ArraySlice<UInt8>), validator: SubmissionValidator, by caller: String?
    ) async throws -> JobSubmission {
        guard line.bytes.count <= Limits.requestBytesMax else {
            throw AttachPrepError(.requestTooLarge, "The line exceeds \(Limits.requestBytesMax) bytes.")
        }
        let request = try AttachmentRequest(
            json: Array(line.bytes), defaults: AttachmentRequest(source: ""), form: .line(line.number))
        return try await validator.submission(for: request, by: caller)
    }

    private static func problem(_ errors: [Problem.Line], of count: Int) -> Problem {
        var problem = Problem(
            errors.first?.code ?? .requestInvalid,
            "\(errors.count) of \(count) lines are invalid, so no job was created; \"errors\" lists them by line.")
        problem.lines = errors
        return problem
    }
}

extension Limits {
    /// Bytes of one line of a batch list.
    package static let requestBytesMax = 65_536
    /// Characters of an idempotency key; a UUID has 36.
    package static let idempotencyKeyCharactersMax = 255
    /// Requests of one batch; split larger ones.
    package static let batchRequestsMax = 10_000
}

extension Job {
    /// The path at which it is served, for `Location`.
    ///
    /// - Parameter url: the public URL of the service, which may have a path.
    func path(below url: String?) -> String {
        let base = url?.split(separator: "://", maxSplits: 1).last?.drop { $0 != "/" } ?? ""
        return "\(base.hasSuffix("/") ? base.dropLast() : base)/v1/jobs/\(id)"
    }
}
