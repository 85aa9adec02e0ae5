internal import SafeArithmetic

/// Why a payload cannot be read or written.
///
/// The server reports it under the same code, as an `AttachPrepError`.
public struct PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The stable code; raw values are those of the error codes of the service.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case requestInvalid = "request.invalid"
        case payloadInvalid = "payload.invalid"
        case payloadNoMedia = "payload.no_media"
        case payloadTooLarge = "payload.too_large"
        case `internal` = "internal"
    }

    public let code: Code
    /// One sentence for the caller: what failed, where, and what to do.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = MessageText.message(message)
    }

    public var description: String { "\(code.rawValue): \(message)" }
}
