internal import AttachPrepModel
internal import FoundationEssentials
internal import MediaTypes
internal import SafeArithmetic

/// When a presigned URL expires, by its query: S3-compatible storage, CloudFront, Google Cloud, Azure. Pure.
enum SignedURLExpiry {
    /// Nil for a URL without a signature, or with an expiry that cannot be read.
    static func date(of url: String) -> Date? {
        guard let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
        var values: [String: String] = [:]
        for field in query.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            values[parts[0].lowercased()] = String(parts[1]).replacing("%3A", with: ":").replacing("%3a", with: ":")
        }
        for name in ["x-amz", "x-goog", "x-oss"] where values["\(name)-signature"] != nil {
            guard let start = values["\(name)-date"].flatMap(time),
                let seconds = values["\(name)-expires"].flatMap(number)
            else { return nil }
            return start + seconds
        }
        if values["sig"] != nil { return values["se"].flatMap(time) }
        return values["signature"] == nil
            ? nil : values["expires"].flatMap(number).map(Date.init(timeIntervalSince1970:))
    }

    /// At most ten digits: until the year 2286.
    private static func number(_ text: String) -> Double? {
        guard 1...10 ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Double(text)
    }

    /// A time in UTC: "20260102T030405Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04Z" or "2026-01-02".
    private static func time(_ text: String) -> Date? {
        guard text.utf8.count <= 24, text.unicodeScalars.allSatisfy({ "0123456789-:TZ".unicodeScalars.contains($0) })
        else { return nil }
        let digits = text.filter(\.isNumber)
        guard [8, 12, 14].contains(digits.count) else { return nil }
        let whole = digits.padding(to: 14)
        let part = { (start: Int, count: Int) in String(whole.dropFirst(start).prefix(count)) }
        let written = "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))T\(part(8, 2)):\(part(10, 2)):\(part(12, 2))Z"
        return Timestamp.date(written)
    }
}

extension String {
    fileprivate func padding(to count: Int) -> String {
        self + String(repeating: "0", count: max(0, count.subtracting(clamping: self.count)))
    }
}

extension AttachPrepError {
    /// - Parameter date: When the signature of the URL expired.
    static func expiredURL(_ host: String, status: Int, at date: Date) -> AttachPrepError {
        AttachPrepError(
            .downloadHTTPStatus,
            "\(host) answered with status \(status): the signed URL expired at \(date.formatted(.iso8601)); request "
                + "the file with a new URL.")
    }

    static func rejectedAfterExpiry(_ host: String, status: Int) -> AttachPrepError {
        AttachPrepError(
            .downloadHTTPStatus,
            "\(host) had begun to send the file and answered the next attempt with status \(status): the URL or its "
                + "credentials have expired; request the file with new ones.")
    }
}
