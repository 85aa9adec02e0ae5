import AttachPrepModel
import Curl
import Logging
package import MediaTypes
import Tracing

/// Sends signed requests to one bucket, with retries until their deadline.
///
/// The endpoint may be on any network, since the operator configures it. Redirects are never followed, and proxies are
/// not used.
final class S3Client: Sendable {
    let bucket: S3Bucket
    private let credentialProvider: AWSCredentialProvider
    private let client: HTTPClient
    private let schedule: RetrySchedule
    private let tracer: (any Tracer)?
    private let logger: Logger

    /// - Throws: `request.invalid` for invalid settings, `publish.denied` without credentials.
    init(
        _ settings: S3Settings, policy: DownloadPolicy, tracer: (any Tracer)? = nil, logger: Logger,
        backOff: Duration = .seconds(Limits.publishBackOffSeconds)
    ) throws {
        self.tracer = tracer
        let profiles = AWSProfileReader(environment: settings.environment)
        let profile = profiles.profile
        bucket = try S3Bucket(settings, profile)
        _ = try profiles.source()
        let bundle = settings.environment.value("AWS_CA_BUNDLE") ?? profile["ca_bundle"]
        client = try HTTPClient(
            policy: DownloadPolicy(
                allowsPrivateNetwork: true,
                certificateAuthorityFile: bundle ?? policy.certificateAuthorityFile,
                resolveOverrides: policy.resolveOverrides),
            timeouts: Self.timeouts, trustsServers: true,
            onAbandonedLoop: {
                logger.error(
                    "publish thread abandoned: libcurl did not return", metadata: ["abandoned": .stringConvertible($0)])
            })
        credentialProvider = AWSCredentialProvider(
            profiles, CredentialClient(client: client, environment: settings.environment), logger: logger)
        var schedule = RetrySchedule(backOff: backOff)
        schedule.attemptsMax = Limits.publishAttemptsMax
        self.schedule = schedule
        self.logger = logger
    }

    /// The operator's endpoint may be slow: a transfer stalls only if no byte arrives.
    private static var timeouts: DownloadTimeouts {
        var timeouts = DownloadTimeouts()
        timeouts.stallBytesMin = 1
        return timeouts
    }

    /// Sends one request and retries it where that may help.
    ///
    /// - Returns: A response with a 2xx status, or one that the request accepts.
    /// - Throws: `publish.…`, `deadline.exceeded`, `cancelled`.
    func send(_ request: S3Request, before deadline: ContinuousClock.Instant) async throws -> HTTPClientResponse {
        try await send(request, before: deadline) { $0 }
    }

    /// Sends one request and reads a value from its response.
    ///
    /// - Parameter read: Reads the value; throws an `S3Error` for an invalid response, which is retried like others.
    func send<Value: Sendable>(
        _ request: S3Request, before deadline: ContinuousClock.Instant,
        reading read: (HTTPClientResponse) throws(S3Error) -> Value
    ) async throws -> Value {
        var (tries, hasRenewed) = (1, false)
        while true {
            let credentials = try await credentialProvider.credentials(before: deadline)
            do throws(S3Error) {
                let response = try await traced(request, credentials: credentials, before: deadline)
                return try read(response)
            } catch {
                logger.debug("S3", metadata: ["try": .stringConvertible(tries), "error": "\(error.error)"])
                if error.remedy == .renewal, !hasRenewed,
                    await credentialProvider.isRenewed(credentials, before: deadline)
                {
                    hasRenewed = true
                    continue
                }
                let delay = schedule.delay(
                    afterTries: tries, chance: .random(in: 0..<1), retryAfter: error.retryAfter,
                    timeLeft: ContinuousClock.now.duration(to: deadline))
                guard error.remedy == .retry, let delay else { throw error.error }
                tries += 1
                try await pause(delay)
            }
        }
    }

    /// Obtains the credentials if there are none yet.
    ///
    /// - Throws: `publish.…`, `deadline.exceeded`, `cancelled`.
    func checkCredentials(before deadline: ContinuousClock.Instant) async throws {
        _ = try await credentialProvider.credentials(before: deadline)
    }

    /// Ends every request with `cancelled`, and returns when the curl thread has ended.
    func shutdown() async {
        credentialProvider.shutdown()
        await client.shutdown()
    }

    /// Sends a request within a span, if the task is traced, and hands the trace on to the endpoint.
    private func traced(
        _ request: S3Request, credentials: AWSCredentials, before deadline: ContinuousClock.Instant
    ) async throws(S3Error) -> HTTPClientResponse {
        guard let tracer, let context = ServiceContext.current else {
            return try await response(to: request, credentials, before: deadline)
        }
        let method = request.method.transferred.rawValue
        let span = tracer.startSpan("S3 \(method)", context: context, ofKind: .client)
        defer { span.end() }
        span.updateAttributes { attributes in
            attributes["http.request.method"] = method
            attributes["server.address"] = bucket.host
        }
        var request = request
        request.headers += TraceHeaders(span.context, tracer)?.fields ?? []
        do {
            let response = try await response(to: request, credentials, before: deadline)
            span.attributes["http.response.status_code"] = response.status
            return response
        } catch {
            span.attributes["error.type"] = error.error.code.rawValue
            span.setStatus(SpanStatus(code: .error))
            throw error
        }
    }

    private func response(
        to request: S3Request, _ credentials: AWSCredentials, before deadline: ContinuousClock.Instant
    ) async throws(S3Error) -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await client.send(request.call(bucket, credentials: credentials, before: deadline))
        } catch let error as AttachPrepError {
            throw S3Error(error)
        } catch {
            throw S3Error(AttachPrepError(wrapping: error))
        }
        if 200..<300 ~= response.status || request.accepted.contains(response.status) { return response }
        throw S3Error(S3ErrorResponse(response), bucket)
    }

    private func pause(_ delay: Duration) async throws {
        do {
            try await ContinuousClock().sleep(for: delay)
        } catch {
            throw AttachPrepError.cancelled
        }
    }
}

/// One request to a bucket, before it is signed.
struct S3Request: Sendable {
    var method: HTTPClientRequest.Method
    /// Nil for the bucket itself.
    var key: String?
    var query: [String: String] = [:]
    var headers: [(name: String, value: String)] = []
    /// The part of the object that a GET requests; nil requests the whole.
    var part: ClosedRange<Int>?
    var payload = Payload.none
    /// Statuses other than 2xx that are returned instead of thrown as errors.
    var accepted: Set<Int> = []
    /// The most bytes of the response body that are kept.
    var responseBytesMax = Limits.publishResponseBytesMax

    init(_ method: HTTPClientRequest.Method, _ key: String?, query: [String: String] = [:]) {
        self.method = method
        self.key = key
        self.query = query
    }

    /// The body, with its SHA-256, which is signed: the endpoint rejects other bytes.
    enum Payload: Sendable {
        case none
        case bytes([UInt8], sha256: String)
        case file(TransferUpload, sha256: String)

        var sha256: String {
            switch self {
            case .none: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            case .bytes(_, let sha256), .file(_, let sha256): sha256
            }
        }
    }

    /// The HTTP request, to be signed by libcurl (`TransferSignature`).
    func call(_ bucket: S3Bucket, credentials: AWSCredentials, before deadline: ContinuousClock.Instant)
        -> HTTPClientRequest
    {
        var lines = headers + [("x-amz-content-sha256", payload.sha256)]
        if let token = credentials.sessionToken { lines.append(("x-amz-security-token", token)) }
        if method == .post, !lines.contains(where: { $0.name == "Content-Type" }) {
            // Otherwise libcurl would add the type of a form after signing.
            lines.append(("Content-Type", "application/xml"))
        }
        var call = HTTPClientRequest(
            method, bucket.url(key, query: query), headers: lines, responseBytesMax: responseBytesMax,
            deadline: deadline)
        call.signature = TransferSignature(
            accessKeyID: credentials.accessKeyID, secretAccessKey: credentials.secretAccessKey, region: bucket.region,
            service: "s3")
        call.responseSecondsMax = Limits.publishResponseSecondsMax
        call.part = part
        switch payload {
        case .none: break
        case .bytes(let bytes, _): call.body = bytes
        case .file(let upload, _): call.upload = upload
        }
        return call
    }
}

extension Limits {
    /// Attempts of one request, including the first.
    package static let publishAttemptsMax = 4
    /// Back-off before the second attempt; doubled for each further one, with random jitter.
    static let publishBackOffSeconds = 0.2
    /// From the last byte sent to the response: an endpoint needs time to join parts.
    static let publishResponseSecondsMax = 30.0
    /// Bytes of an endpoint's response: usually some 300; an error page with the signed text has 5 KB.
    static let publishResponseBytesMax = 65_536
}
