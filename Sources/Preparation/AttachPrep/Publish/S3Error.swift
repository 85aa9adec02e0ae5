import AttachPrepModel
import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// The error of a failed request to a bucket, and what may resolve it. Pure.
struct S3Error: Error, Sendable, Hashable {
    enum Remedy: Sendable, Hashable {
        case none
        /// Retry after a wait.
        case retry
        /// Retry with renewed credentials, if there are any.
        case renewal
    }

    let error: AttachPrepError
    let remedy: Remedy
    /// The endpoint's `Retry-After`.
    private(set) var retryAfter: Duration?

    private init(
        _ code: ErrorCode, _ message: String, _ detail: String?, _ remedy: Remedy = .none, isRetryable: Bool? = nil
    ) {
        error = AttachPrepError(code, message, detail: detail, isRetryable: isRetryable)
        self.remedy = remedy
    }

    // MARK: With a response

    init(_ response: S3ErrorResponse, _ bucket: S3Bucket) {
        self = Self.classified(response, bucket: bucket)
        retryAfter = response.retryAfter
    }

    private static func classified(_ response: S3ErrorResponse, bucket: S3Bucket) -> S3Error {
        let (name, host, detail) = (bucket.location.bucket, bucket.host, response.detail)
        if let seconds = response.wrongClockSeconds {
            return .clock(seconds, host: host, detail: detail)
        }
        if let region = response.region, region != bucket.region, response.isOtherRegion {
            return S3Error(
                .publishNotFound,
                "The bucket \(name) is in the region \(region), not in \(bucket.region); correct the S3 region.",
                detail)
        }
        switch response.code {
        case "NoSuchBucket": return .noBucket(name, host: host, detail: detail)
        case "NoSuchUpload":
            return S3Error(
                .publishRejected,
                "\(host) removed a multipart upload before it was complete; check the bucket for a rule that expires "
                    + "incomplete uploads, and try again.", detail, isRetryable: true)
        case "InvalidBucketName":
            return S3Error(
                .publishNotFound, "\(host) rejected the bucket name \(name); correct the publish target.", detail)
        case "SignatureDoesNotMatch":
            return S3Error(
                .publishDenied,
                "\(host) rejected the signature: the secret key does not match the access key; check both.",
                detail)
        case "InvalidAccessKeyId":
            return S3Error(.publishDenied, "\(host) rejected the access key; check it and the endpoint.", detail)
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            return S3Error(
                .publishDenied, "The temporary S3 credentials have expired; renew them at their source.", detail,
                .renewal)
        case "RequestTimeout", "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody", "OperationAborted",
            "SlowDown", "InternalError", "ServiceUnavailable":
            return .busy(response.status, host: host, detail: detail)
        default: return S3Error(status: response.status, response.code, name, host, detail)
        }
    }

    private init(status: Int, _ code: String?, _ name: String, _ host: String, _ detail: String) {
        switch status {
        case 401, 403:
            self.init(
                .publishDenied,
                "The S3 credentials lack a permission in the bucket \(name); allow them s3:PutObject and "
                    + "s3:AbortMultipartUpload there.", detail, .renewal)
        case 404: self = .noBucket(name, host: host, detail: detail)
        case 408, 425, 429, 500...599: self = .busy(status, host: host, detail: detail)
        case 300..<400:
            self.init(
                .publishNotFound,
                "Requests for the bucket \(name) are redirected by \(host) to another endpoint; correct the S3 "
                    + "endpoint or region.", detail)
        default:
            self.init(
                .publishRejected,
                "\(host) rejected the file (status \(status)"
                    + (code.map { ", \(MessageText.excerpt($0, bytesMax: 80))" } ?? "")
                    + "); check the bucket's policy and its endpoint.", detail)
        }
    }

    // MARK: Without a response

    /// - Parameter failure: The error of `HTTPClient`.
    init(_ failure: AttachPrepError) {
        let detail = failure.detail.map { "\(failure.code.rawValue): \($0)" } ?? failure.code.rawValue
        switch failure.code {
        case .cancelled: self.init(.cancelled, AttachPrepError.cancelled.message, detail)
        case .deadlineExceeded:
            let passed = AttachPrepError.deadlinePassed(at: "publishing")
            self.init(passed.code, passed.message, detail)
        case .sourceInvalidURL, .requestInvalid:
            self.init(
                .requestInvalid, "The S3 endpoint and bucket do not form a valid URL; correct them.", detail)
        default:
            self.init(
                .publishUnavailable, failure.message, detail, failure.isRetryable ? .retry : .none,
                isRetryable: failure.isRetryable)
        }
    }

    /// A successful response that S3 would not send.
    static func unexpectedResponse(_ bucket: S3Bucket, what: String) -> S3Error {
        S3Error(
            .publishUnavailable, "\(bucket.host) does not answer as S3 does; check the S3 endpoint.", what, .retry)
    }

    private static func noBucket(_ name: String, host: String, detail: String) -> S3Error {
        S3Error(
            .publishNotFound, "There is no bucket \(name) at \(host); create it, or correct the publish target.", detail
        )
    }

    private static func busy(_ status: Int, host: String, detail: String) -> S3Error {
        S3Error(
            .publishUnavailable, "\(host) could not store the files (status \(status)); try again later.", detail,
            .retry)
    }

    private static func clock(_ seconds: Double, host: String, detail: String) -> S3Error {
        let way = seconds > 0 ? "ahead of" : "behind"
        return S3Error(
            .publishDenied,
            "The clock of this machine is \(Int(clamping: abs(seconds)).grouped) s \(way) that of \(host), which "
                + "allows \(Int(Limits.publishClockSecondsMax)) s; synchronize it.", detail)
    }
}

extension S3ErrorResponse {
    /// The difference of this machine's clock in seconds, if that caused the rejection.
    fileprivate var wrongClockSeconds: Double? {
        if code == "RequestTimeTooSkewed" || code == "RequestExpired" { return clockAheadSeconds ?? 0 }
        // Signing keys are valid for one day: with the wrong date, an endpoint reports another error code.
        guard [400, 401, 403].contains(status), let clockAheadSeconds else { return nil }
        return abs(clockAheadSeconds) > Limits.publishClockSecondsMax ? clockAheadSeconds : nil
    }

    /// Whether the response means that the bucket is in another region.
    fileprivate var isOtherRegion: Bool {
        300..<400 ~= status || status == 400 && code == nil || Self.otherRegionCodes.contains(code ?? "")
    }

    private static let otherRegionCodes: Set<String> = [
        "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException",
    ]
}

/// A parsed S3 error response.
struct S3ErrorResponse: Sendable, Hashable {
    var status: Int
    /// The error code, such as "NoSuchBucket"; nil without one, as for HEAD.
    var code: String?
    /// The endpoint's message, for the log.
    var message: String?
    /// The region of the bucket, if the response names it.
    var region: String?
    /// Seconds by which this machine's clock is ahead of the endpoint's; nil without a `Date` field.
    var clockAheadSeconds: Double?
    var retryAfter: Duration?

    init(status: Int, code: String? = nil) {
        self.status = status
        self.code = code
    }

    init(_ response: HTTPClientResponse, now: Date = .now) {
        status = response.status
        code = XMLText.first("Code", in: response.body)
        message = XMLText.first("Message", in: response.body)
        region = (response.head["x-amz-bucket-region"]?.string ?? XMLText.first("Region", in: response.body))
            .flatMap { S3Settings.isRegion($0) ? $0 : nil }
        clockAheadSeconds = response.head["date"].flatMap(HTTPDate.date).map { now.timeIntervalSince($0) }
        retryAfter = response.retryAfter
    }

    /// Status, code and message, for the log.
    var detail: String {
        let words = [code, message].compactMap(\.self).joined(separator: ": ")
        return "S3 answered \(status)\(words.isEmpty ? "" : " \(words.prefix(400))")"
    }
}

extension Limits {
    /// S3 rejects signatures of clocks that are off by more than 15 minutes.
    static let publishClockSecondsMax = 900.0
}
