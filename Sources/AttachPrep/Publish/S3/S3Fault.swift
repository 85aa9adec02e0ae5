import RichPush
import SafeArithmetic

/// What a failed request to a bucket means, and what helps. Pure.
struct S3Fault: Error, Sendable, Hashable {
    enum Remedy: Sendable, Hashable {
        case none
        /// Trying again, a little later.
        case retry
        /// Other credentials, should there be any by now.
        case renewal
    }

    let error: AttachPrepError
    let remedy: Remedy
    /// How long the endpoint asks to be left alone.
    private(set) var hasAsked: Duration?

    private init(
        _ code: ErrorCode, _ message: String, _ detail: String?, _ remedy: Remedy = .none, isRetryable: Bool? = nil
    ) {
        error = AttachPrepError(code, message, detail: detail, isRetryable: isRetryable)
        self.remedy = remedy
    }

    // MARK: An answer

    init(_ refusal: S3Refusal, _ bucket: S3Bucket) {
        self = Self.fault(refusal, bucket)
        hasAsked = refusal.hasAsked
    }

    private static func fault(_ refusal: S3Refusal, _ bucket: S3Bucket) -> S3Fault {
        let (name, host, detail) = (bucket.location.bucket, bucket.host, refusal.detail)
        if let seconds = refusal.wrongClockSeconds {
            return .clock(seconds, host, detail)
        }
        if let region = refusal.region, region != bucket.region, refusal.isElsewhere {
            return S3Fault(
                .publishNotFound,
                "The bucket \(name) is in the region \(region), not in \(bucket.region); correct the S3 region.",
                detail)
        }
        switch refusal.code {
        case "NoSuchBucket": return .noBucket(name, host, detail)
        case "NoSuchUpload":
            return S3Fault(
                .publishUnavailable,
                "\(host) has taken back an upload before it was complete; look for a rule that expires them, and try "
                    + "again.", detail)
        case "InvalidBucketName":
            return S3Fault(
                .publishNotFound, "\(host) takes no bucket called \(name); correct the publish target.", detail)
        case "SignatureDoesNotMatch":
            return S3Fault(
                .publishDenied,
                "\(host) does not take the signature: the secret key is not that of the access key; check both.",
                detail)
        case "InvalidAccessKeyId":
            return S3Fault(.publishDenied, "\(host) does not know the access key; check it and the endpoint.", detail)
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            return S3Fault(
                .publishDenied, "The temporary S3 credentials have expired; renew them in their file.", detail,
                .renewal)
        case "RequestTimeout", "BadDigest", "XAmzContentSHA256Mismatch", "IncompleteBody", "OperationAborted",
            "SlowDown", "InternalError", "ServiceUnavailable":
            return .busy(refusal.status, host, detail)
        default: return S3Fault(status: refusal.status, name, host, detail)
        }
    }

    private init(status: Int, _ name: String, _ host: String, _ detail: String) {
        switch status {
        case 401, 403:
            self.init(
                .publishDenied,
                "These S3 credentials may not do that in the bucket \(name); allow them s3:PutObject and "
                    + "s3:AbortMultipartUpload there.", detail, .renewal)
        case 404: self = .noBucket(name, host, detail)
        case 408, 425, 429, 500...599: self = .busy(status, host, detail)
        case 300..<400:
            self.init(
                .publishNotFound,
                "The bucket \(name) is not to be found at \(host), which points elsewhere; correct the S3 endpoint or "
                    + "region.", detail)
        default:
            self.init(
                .publishDenied, "\(host) refused the file (status \(status)); the log says why.", detail)
        }
    }

    // MARK: No answer

    /// - Parameter failure: of a call.
    init(_ failure: AttachPrepError) {
        let detail = failure.detail.map { "\(failure.code.rawValue): \($0)" } ?? failure.code.rawValue
        switch failure.code {
        case .cancelled: self.init(.cancelled, AttachPrepError.cancelled.message, detail)
        case .deadlineExceeded:
            let passed = AttachPrepError.deadlinePassed(at: "publishing")
            self.init(passed.code, passed.message, detail)
        case .sourceInvalidURL, .requestInvalid:
            self.init(.requestInvalid, "The S3 endpoint or bucket makes no address that can be asked.", detail)
        default:
            self.init(
                .publishUnavailable, failure.message, detail, failure.isRetryable ? .retry : .none,
                isRetryable: failure.isRetryable)
        }
    }

    /// What answers there says yes, but not as S3 does.
    static func strange(_ bucket: S3Bucket, _ what: String) -> S3Fault {
        S3Fault(
            .publishUnavailable, "\(bucket.host) does not answer as S3 does; check the S3 endpoint.", what, .retry)
    }

    private static func noBucket(_ name: String, _ host: String, _ detail: String) -> S3Fault {
        S3Fault(
            .publishNotFound, "There is no bucket \(name) at \(host); create it, or correct the publish target.", detail
        )
    }

    private static func busy(_ status: Int, _ host: String, _ detail: String) -> S3Fault {
        S3Fault(
            .publishUnavailable, "\(host) could not take the files (status \(status)); try again later.", detail,
            .retry)
    }

    private static func clock(_ seconds: Double, _ host: String, _ detail: String) -> S3Fault {
        let way = seconds > 0 ? "ahead of" : "behind"
        return S3Fault(
            .publishDenied,
            "This machine's clock is \(Int(clamping: abs(seconds)).grouped) s \(way) that of \(host), which allows "
                + "\(Int(Limits.publishClockSecondsMax)); set it.", detail)
    }
}

extension S3Refusal {
    /// How far our clock is off, where that is why we were refused.
    fileprivate var wrongClockSeconds: Double? {
        if code == "RequestTimeTooSkewed" || code == "RequestExpired" { return clockAheadSeconds ?? 0 }
        // Whose day is another one sees a key of another day, and says so in other words.
        guard [400, 401, 403].contains(status), let clockAheadSeconds else { return nil }
        return abs(clockAheadSeconds) > Limits.publishClockSecondsMax ? clockAheadSeconds : nil
    }

    /// Whether it says that the bucket is in another region.
    fileprivate var isElsewhere: Bool {
        300..<400 ~= status || status == 400 && code == nil || Self.elsewhere.contains(code ?? "")
    }

    private static let elsewhere: Set<String> = [
        "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect", "IllegalLocationConstraintException",
    ]
}
