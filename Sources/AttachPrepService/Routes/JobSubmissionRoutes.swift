import AttachPrep
import AttachPrepJobs
import Crypto
import HTTPTypes
import Hummingbird
import RichPush
import SafeArithmetic

/// `POST /v1/jobs`: a request, or many, become jobs.
struct JobSubmissionRoutes: Sendable {
    let store: any JobStore
    let intake: JobIntake
    let waiters: JobWaiters
    let baseURL: String?

    var endpoints: [Endpoint] {
        [Endpoint(method: .post, path: "/v1/jobs", respond: submit)]
    }

    @Sendable private func submit(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let form = try SubmissionForm(request)
        let body = try RequestBytes(request, context, max: form.bytesMax)
        let word = try IdempotencyWord(request)
        let bytes = try await body.all()
        let key = word.map {
            IdempotencyKey(caller: context.caller, key: $0.text, bodyDigest: SHA256.hash(data: bytes).hexadecimal)
        }
        switch form {
        case .one:
            var submission = try await intake.submission(
                for: try AttachmentRequest(json: bytes, defaults: AttachmentRequest(source: "")))
            submission.origin.idempotencyKey = word?.text
            let kept = try await store.enqueue([submission], idempotency: key)
            guard let job = kept.jobs.first else {
                throw AttachPrepError(.internal, "The service failed.", detail: "no job came of a submission")
            }
            return try await answer(job, isRepeated: kept.areRepeated, to: request)
        case .lines:
            let origin = JobOrigin(batch: JobID.make().text, idempotencyKey: word?.text)
            let submissions = try await RequestLines(bytes).submissions(intake).map { submission in
                var submission = submission
                submission.origin = origin
                return submission
            }
            let kept = try await store.enqueue(submissions, idempotency: key)
            return try JSONAnswer.response(
                JobsAnswer(
                    batch: kept.jobs.first?.origin.batch, jobs: kept.jobs.map { $0.located(at: baseURL) }),
                status: .accepted,
                headers: Self.fields(isRepeated: kept.areRepeated))
        }
    }

    /// The manifest when the caller waits and it is there in time, else the job.
    private func answer(_ job: Job, isRepeated: Bool, to request: Request) async throws -> Response {
        var fields = Self.fields(isRepeated: isRepeated)
        fields[.location] = "/v1/jobs/\(job.id)"
        var job = job
        if let seconds = Preference(request.headers[values: .prefer]).waitSeconds {
            fields[.preferenceApplied] = "wait=\(seconds)"
            job = try await waiters.end(of: job.id, before: .now.advanced(by: .seconds(clamping: seconds))) {
                guard let job = try await store.job(job.id) else { throw JobRoutes.unknown }
                return job
            }
            if let manifest = job.located(at: baseURL).result, job.state.isFinished {
                return try JSONAnswer.response(manifest, status: .ok, headers: fields)
            }
        }
        return try JSONAnswer.response(job.located(at: baseURL), status: .accepted, headers: fields)
    }

    private static func fields(isRepeated: Bool) -> HTTPFields {
        isRepeated ? [.idempotencyReplayed: "true"] : [:]
    }
}

/// How requests are written in a body.
enum SubmissionForm {
    case one
    case lines

    init(_ request: Request) throws {
        let type = request.headers[.contentType]?.prefix { $0 != ";" }.trimmingSpaces().lowercased()
        switch type {
        case "application/json": self = .one
        case "application/x-ndjson", "application/jsonl": self = .lines
        default:
            throw Problem(
                .requestInvalid,
                "The body has to be application/json with one request, or application/x-ndjson with one a line.",
                status: 415)
        }
    }

    var bytesMax: Int {
        switch self {
        case .one: Limits.requestBytesMax
        case .lines: Limits.batchBytesMax
        }
    }
}

/// The `Idempotency-Key` of a request, with or without the quotes of the draft that defines it.
struct IdempotencyWord {
    let text: String

    /// Nil when there is none.
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
                "The Idempotency-Key is not 1 to \(Limits.idempotencyKeyCharactersMax) visible ASCII characters.")
        }
    }
}
