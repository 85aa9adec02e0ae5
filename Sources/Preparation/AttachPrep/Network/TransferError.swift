internal import AttachPrepModel
internal import Curl
import MediaTypes
package import SafeArithmetic

/// The error of a transfer that did not complete, and whether another attempt may succeed.
struct TransferError: Sendable, Hashable {
    /// Whether to try again.
    enum Remedy: Sendable, Hashable {
        case none
        /// Try again later, resuming with a range request if the server supports it.
        case retry
    }

    let error: AttachPrepError
    let remedy: Remedy
}

/// Where an interrupted download resumes, with the validator that ensures that the rest is of the same version.
package struct ResumePoint: Sendable, Hashable {
    /// Bytes already in the file.
    package let offset: Int
    /// The `If-Range` value: a strong ETag, else `Last-Modified`.
    package let validator: ForeignText
    /// Bytes of the whole file; nil if the server declared none.
    package let total: Int?
    let etag: ForeignText?

    /// Nil when resuming is impossible: no bytes were received, the body is encoded, ranges are not accepted, or no
    /// validator identifies the version.
    package init?(after head: ResponseHead, bytes: Int, total: Int?) {
        guard bytes > 0, !head.isEncoded, head["accept-ranges"]?.lowercased != "none" else { return nil }
        let strong = head["etag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
        guard let validator = strong ?? head["last-modified"], Self.isValidHeaderValue(validator.string)
        else { return nil }
        offset = bytes
        self.validator = validator
        self.total = total
        etag = strong
    }

    /// Whether a validator is safe to send back unchanged: a line break in it would inject a header line.
    static func isValidHeaderValue(_ validator: String) -> Bool {
        validator.utf8.count <= Limits.validatorBytesMax
            && validator.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// The `Range` and `If-Range` header lines.
    var headerLines: [String] { ["Range: bytes=\(offset)-", "If-Range: \(validator.string)"] }

    /// Whether a 206 response continues the file at `offset` with the same version.
    package func isContinued(by head: ResponseHead) -> Bool {
        guard !head.isEncoded, let range = head.contentRange, range.first == offset else { return false }
        if let total, let other = range.total, total != other { return false }
        if let etag, let other = head["etag"], etag != other { return false }
        if etag == nil, let other = head["last-modified"], validator != other { return false }
        return head.isWholeRange
    }
}
