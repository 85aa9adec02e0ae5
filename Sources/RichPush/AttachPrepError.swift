/// The one error of the product: a stable code, a sentence for the caller, and private detail for the log.
///
/// The sentence names the thing, the limit and the remedy, and never carries a library's own text or a local path.
///
/// ```swift
/// throw AttachPrepError(
///     .limitExceeded, "The image is 12,400,000 bytes, over Apple's 10,000,000; drop --oversize reject to shrink it.")
/// ```
public struct AttachPrepError: Error, Codable, Sendable, Hashable, CustomStringConvertible {
    /// The stable code.
    public let code: ErrorCode
    /// One sentence for the caller.
    public let message: String
    /// What a library or the system said; for the log only.
    public let detail: String?
    /// Whether trying again may help; the code's own word unless this case knows better.
    public let isRetryable: Bool

    public init(_ code: ErrorCode, _ message: String, detail: String? = nil, isRetryable: Bool? = nil) {
        self.code = code
        self.message = message
        self.detail = detail
        self.isRetryable = isRetryable ?? code.isRetryable
    }

    /// Code and sentence, and the detail where there is one: for the log.
    public var description: String {
        "\(code.rawValue): \(message)" + (detail.map { " [\($0)]" } ?? "")
    }
}
