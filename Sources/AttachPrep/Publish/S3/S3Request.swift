import Curl
import RichPush

/// One request to a bucket, before it is signed.
struct S3Request: Sendable {
    var method: WebCall.Method
    /// Nil for the bucket itself.
    var key: String?
    var query: [String: String] = [:]
    var headers: [(name: String, value: String)] = []
    var payload = Payload.none
    /// Statuses beside success that the caller wants to see.
    var accepted: Set<Int> = []
    /// What is kept of the answer, in bytes.
    var answerBytesMax = Limits.publishAnswerBytesMax

    init(_ method: WebCall.Method, _ key: String?, query: [String: String] = [:]) {
        self.method = method
        self.key = key
        self.query = query
    }

    /// What is sent; each with its SHA-256, which is signed: the endpoint refuses other bytes.
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

    /// The call as it goes out: the one place where a request meets libcurl's signatures (`TransferSignature`).
    func call(_ bucket: S3Bucket, _ credentials: AWSCredentials, before deadline: ContinuousClock.Instant) -> WebCall {
        var lines = headers + [("x-amz-content-sha256", payload.sha256)]
        if let token = credentials.sessionToken { lines.append(("x-amz-security-token", token)) }
        if method == .post, !lines.contains(where: { $0.name == "Content-Type" }) {
            // libcurl would name a form's type, after it has signed.
            lines.append(("Content-Type", "application/xml"))
        }
        var call = WebCall(
            method, bucket.url(key, query: query), headers: lines, answerBytesMax: answerBytesMax, deadline: deadline)
        call.signature = TransferSignature(
            accessKeyID: credentials.accessKeyID, secretAccessKey: credentials.secretAccessKey, region: bucket.region,
            service: "s3")
        call.answerSecondsMax = Limits.publishAnswerSecondsMax
        switch payload {
        case .none: break
        case .bytes(let bytes, _): call.body = bytes
        case .file(let upload, _): call.upload = upload
        }
        return call
    }
}
