#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An answer that says no, as S3 says it.
struct S3Refusal: Sendable, Hashable {
    var status: Int
    /// As in "NoSuchBucket"; nil when the answer has none, as that to a HEAD.
    var code: String?
    /// The endpoint's words: for the log.
    var message: String?
    /// Where the bucket is instead.
    var region: String?
    /// Seconds that our clock is ahead of the endpoint's; nil when it does not say its time.
    var clockAheadSeconds: Double?
    var hasAsked: Duration?

    init(status: Int, code: String? = nil) {
        self.status = status
        self.code = code
    }

    init(_ answer: WebAnswer, now: Date = .now) {
        status = answer.status
        code = XMLText.first("Code", in: answer.body)
        message = XMLText.first("Message", in: answer.body)
        region = (answer.head["x-amz-bucket-region"] ?? XMLText.first("Region", in: answer.body))
            .flatMap { S3Bucket.isRegion($0) ? $0 : nil }
        clockAheadSeconds = answer.head["date"].flatMap(HTTPDate.date).map { now.timeIntervalSince($0) }
        hasAsked = answer.retryAfter
    }

    /// For the log.
    var detail: String {
        let words = [code, message].compactMap(\.self).joined(separator: ": ")
        return "S3 answered \(status)\(words.isEmpty ? "" : " \(words.prefix(400))")"
    }
}
