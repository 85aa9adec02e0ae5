import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
import PushPayload
import RichPush
import SafeArithmetic

/// `POST /v1/payloads`: prepares the media of APNs payloads and returns the rewritten payloads.
struct PayloadRoutes: Sendable {
    let jobs: PayloadJobs
    let receiptService: ReceiptService
    let hasPublicURLs: Bool

    var endpoints: [Endpoint] {
        [
            Endpoint(
                method: .post, path: "/v1/payloads", roles: [.submit],
                producesForLines: SubmissionFormat.linesMediaType,
                respond: rewrite)
        ]
    }

    @Sendable private func rewrite(_ request: Request, in context: ServiceContext) async throws -> Response {
        let format = try SubmissionFormat(request)
        let bytesMax = format == .one ? Limits.payloadInputBytesMax : Limits.payloadBatchBytesMax
        let body = try BoundedRequestBody(request, context, max: bytesMax)
        let bytes = try await body.all()
        let seconds = try PreferHeader(request).waitSeconds.map(Double.init)
        let shared = SharedPreparations()
        switch format {
        case .one:
            let submission = try PayloadSubmission(bytes)
            try requirePublicURLs()
            let result = try await rewritten(submission, seconds: seconds, shared: shared, by: context.token)
            return JSONResponse.response(bytes: try result.json())
        case .lines:
            let lines = try JSONLines(bytes, max: Limits.payloadBatchLinesMax).lines
            try requirePublicURLs()
            // All at once: the jobs have one deadline.
            let results = try await lines.concurrentlyMapped(atMost: lines.count) { line in
                do {
                    return try await rewritten(
                        PayloadSubmission(Array(line.bytes)), seconds: seconds, shared: shared, by: context.token
                    ).json()
                } catch let error as AttachPrepError {
                    return try PayloadFailure(error).json()
                }
            }
            return PayloadResponse.lines(results)
        }
    }

    private func requirePublicURLs() throws {
        guard hasPublicURLs else {
            throw AttachPrepError(
                .requestInvalid,
                "Rewriting a payload requires the service's public URL; its operator must set one.")
        }
    }

    private func rewritten(
        _ submission: PayloadSubmission, seconds: Double?, shared: SharedPreparations, by caller: String?
    ) async throws -> PayloadResult {
        let deadline = jobs.deadline(of: submission.template, preferring: seconds)
        return try await submission.rewriter.rewritten(
            applying: submission.template, receipt: try await receipt(for: submission),
            addsNeutralObject: submission.addsNeutralObject
        ) { request in
            try await shared.manifest(of: request) { request in
                try await jobs.manifest(of: request, by: caller, before: deadline)
            }
        }
    }

    private func receipt(for submission: PayloadSubmission) async throws -> PushReceipt? {
        guard submission.campaign != nil else { return nil }
        return try await receiptService.receipt(
            campaign: submission.campaign, recipients: submission.recipients, sentAt: submission.sentAt)
    }
}

/// The body of `POST /v1/payloads`; the payload inside is kept byte for byte where it is not rewritten.
struct PayloadSubmission {
    static let keys = ["payload", "dialect", "mediaKey", "request", "campaign", "recipients", "sentAt", "neutral"]

    let rewriter: PayloadRewriter
    /// The options for all media of the payload, without a source.
    let template: AttachmentRequest
    /// The campaign that receipts are counted for; nil requests no receipts.
    let campaign: String?
    /// Devices that the payload is sent to.
    let recipients: Int
    /// When the payload is sent; nil means now.
    let sentAt: Date?
    /// Whether the neutral object `attachprep` is added to the payload.
    let addsNeutralObject: Bool

    /// - Throws: `payload.invalid`, `payload.no_media`, `request.invalid`.
    init(_ bytes: [UInt8]) throws {
        let body = try AttachPrepError.converting { try PayloadDocument(bytes) }
        if let unknown = body.value.members?.map(\.key).first(where: { !Self.keys.contains($0) }) {
            let meant = Suggestion.nearest(to: unknown, of: Self.keys).map { "did you mean \"\($0)\"?" }
            throw AttachPrepError(
                .requestInvalid,
                "The body has the unknown key \"\(MessageText.excerpt(unknown, bytesMax: 80))\"; "
                    + (meant ?? "known keys are \(Self.keys.joined(separator: ", ")).")
                    + " The APNs payload belongs in \"payload\".")
        }
        let payload = PayloadPath([.key("payload")])
        guard body.value["payload"]?.members != nil, let text = try? body.bytes(at: payload) else {
            throw AttachPrepError(
                .payloadInvalid,
                "\"payload\" must be a JSON object: the APNs payload. Send several as application/x-ndjson.")
        }
        template = try Self.template(body)
        campaign = try Self.text("campaign", in: body.value)
        recipients = try Self.recipients(body.value)
        sentAt = try Self.time("sentAt", in: body.value)
        addsNeutralObject = try Self.neutral(body.value)
        guard addsNeutralObject || campaign == nil else {
            throw AttachPrepError(
                .requestInvalid,
                "\"campaign\" requires the neutral object, which \"neutral\": false omits; remove one of the two.")
        }
        let dialect = try PayloadRewriter.dialect(
            named: Self.text("dialect", in: body.value), mediaKey: Self.text("mediaKey", in: body.value))
        rewriter = try PayloadRewriter(
            text,
            search: MediaSearch(dialect: dialect, targets: template.targets.systems, acceptsText: campaign != nil))
    }

    /// The request template; its default priority is high, since a caller waits for the response.
    private static func template(_ body: PayloadDocument) throws -> AttachmentRequest {
        var defaults = AttachmentRequest(source: "")
        defaults.jobOptions.priority = .high
        guard let value = body.value["request"], value != .null else { return defaults }
        guard value.members != nil, value["source"] == nil else {
            throw AttachPrepError(
                .requestInvalid, "\"request\" must be an object as in POST /v1/jobs, without \"source\".")
        }
        let path = PayloadPath([.key("request")])
        var whole = body
        try AttachPrepError.converting { try whole.apply([.set(key: "source", .string(""), in: path)]) }
        return try AttachmentRequest(
            json: AttachPrepError.converting { try whole.bytes(at: path) }, defaults: defaults)
    }

    private static func recipients(_ body: PayloadValue) throws -> Int {
        guard let value = body["recipients"], value != .null else { return 1 }
        // Some JSON writers emit every number with a fraction: 100.0 is accepted as 100.
        guard case .number(let text) = value, let count = Int(text) ?? Double(text).flatMap(Int.init(exactly:)),
            count >= 1
        else {
            throw AttachPrepError(
                .requestInvalid,
                "\"recipients\" must be a whole number of devices, at least 1, not \(Self.shown(value)).")
        }
        return count
    }

    private static func neutral(_ body: PayloadValue) throws -> Bool {
        switch body["neutral"] {
        case nil, .null: return true
        case .bool(let isWanted): return isWanted
        case let value?:
            throw AttachPrepError(.requestInvalid, "\"neutral\" must be true or false, not \(Self.shown(value)).")
        }
    }

    private static func time(_ key: String, in body: PayloadValue) throws -> Date? {
        guard let text = try text(key, in: body) else { return nil }
        guard let date = Timestamp.date(text) else {
            throw AttachPrepError(
                .requestInvalid,
                "\"\(key)\" must be an RFC 3339 time with an offset, such as 2026-11-22T20:51:02Z, not "
                    + "\"\(MessageText.excerpt(text, bytesMax: 80))\".")
        }
        return date
    }

    /// The value for messages.
    private static func shown(_ value: PayloadValue) -> String {
        switch value {
        case .string(let text): "\"\(MessageText.excerpt(text, bytesMax: 80))\""
        case .number(let text): MessageText.excerpt(text, bytesMax: 80)
        case .bool(let flag): "\(flag)"
        case .null: "null"
        case .array: "an array"
        case .object: "an object"
        }
    }

    private static func text(_ key: String, in body: PayloadValue) throws -> String? {
        guard let value = body[key], value != .null else { return nil }
        guard let text = value.string else {
            throw AttachPrepError(.requestInvalid, "\"\(key)\" must be a string, not \(Self.shown(value)).")
        }
        return text
    }
}

/// Enqueues the media of a payload as jobs and waits for them.
struct PayloadJobs: Sendable {
    let store: any JobStore
    let validator: SubmissionValidator
    let waiters: JobWaiters
    let baseURL: String?
    let secondsMax: Double

    /// When the wait ends: after the preferred time, or the budget plus a grace period; never longer than `secondsMax`,
    /// which stays below the timeouts of common proxies.
    func deadline(of template: AttachmentRequest, preferring seconds: Double?) -> ContinuousClock.Instant {
        let needed = seconds ?? template.budgetSeconds + Limits.payloadWaitGraceSeconds
        return .now.advanced(by: .seconds(clamping: min(needed, secondsMax)))
    }

    /// The manifest of a request; a rejected one if the source is invalid, the first attempt failed, or the job did not
    /// end in time.
    ///
    /// - Throws: Errors of the service, and of the request that do not concern its source.
    func manifest(
        of request: AttachmentRequest, by caller: String?, before deadline: ContinuousClock.Instant
    ) async throws -> Manifest {
        let submission: JobSubmission
        do {
            submission = try await validator.submission(for: request, by: caller)
        } catch let error as AttachPrepError where error.code.isOfSource {
            return Manifest(rejecting: request, error)
        }
        guard let kept = try await store.enqueue([submission], idempotency: nil).jobs.first else {
            throw AttachPrepError(.internal, "The service failed.", detail: "no job came of a submission")
        }
        let job = try await store.withSecret(
            waiters.end(of: kept.id, before: deadline, until: \.hasBeenTried))
        return job.located(at: baseURL).manifest(of: request)
    }
}

extension Job {
    /// Whether the job or its first attempt has ended: a retry would come too late for a notification.
    fileprivate var hasBeenTried: Bool { state.isFinished || state == .queued && attempts > 0 && error != nil }

    fileprivate func manifest(of request: AttachmentRequest) -> Manifest {
        if let result { return result }
        let failure =
            error.map { AttachPrepError($0.code, $0.message, isRetryable: $0.retryable) }
            ?? AttachPrepError(
                .deadlineExceeded,
                "The media was not ready in time; its job continues, so send the payload again later.")
        return Manifest(rejecting: request, failure)
    }
}

extension ErrorCode {
    fileprivate var isOfSource: Bool { rawValue.hasPrefix("source.") }
}

/// The response to `POST /v1/payloads` with JSON Lines.
enum PayloadResponse {
    /// One result a line.
    static func lines(_ results: [[UInt8]]) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = SubmissionFormat.linesMediaType
        headers[.cacheControl] = "no-store"
        let bytes = Array(results.map { $0 + [UInt8(ascii: "\n")] }.joined())
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Limits {
    /// Payloads of one `POST /v1/payloads` as JSON Lines; their media is prepared within one request's time.
    package static let payloadBatchLinesMax = 500
    /// Bytes of their body: 500 payloads of 4 KB with options.
    static let payloadBatchBytesMax = 4_000_000
    /// Additional time that a caller waits beyond the work's budget: for the queue.
    static let payloadWaitGraceSeconds = 2.0
}
