internal import RichPush

/// Where a broken transfer can go on, and how the server is kept from continuing with something else.
package struct ResumePoint: Sendable, Hashable {
    /// Bytes that are there already.
    package let offset: Int
    /// For `If-Range`: a strong ETag, else the date of the last change.
    package let validator: String
    /// Bytes of the whole; nil when the server did not say.
    package let total: Int?
    let etag: String?

    /// Nil when the rest cannot be asked for: nothing is there, the body was encoded, or nothing names its version.
    package init?(after head: ResponseHead, bytes: Int, total: Int?) {
        guard bytes > 0, !head.isEncoded, head["accept-ranges"]?.lowercased() != "none" else { return nil }
        let strong = head["etag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
        guard let validator = strong ?? head["last-modified"], Self.isSentBack(validator) else { return nil }
        offset = bytes
        self.validator = validator
        self.total = total
        etag = strong
    }

    /// Whether a validator may be sent back as it came: a line break in it would begin a header line of the server's
    /// choice.
    static func isSentBack(_ validator: String) -> Bool {
        validator.utf8.count <= Limits.validatorBytesMax
            && validator.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// The request's two header lines.
    var headerLines: [String] { ["Range: bytes=\(offset)-", "If-Range: \(validator)"] }

    /// Whether a 206 continues exactly what is there.
    package func isContinued(by head: ResponseHead) -> Bool {
        guard !head.isEncoded, let range = head.contentRange, range.first == offset else { return false }
        if let total, let other = range.total, total != other { return false }
        if let etag, let other = head["etag"], etag != other { return false }
        if etag == nil, let other = head["last-modified"], validator != other { return false }
        return head.isWholeRange
    }
}
