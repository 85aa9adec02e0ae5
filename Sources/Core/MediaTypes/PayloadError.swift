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
    /// The setting that mends it, with which the message begins; nil without one.
    public let remedy: PayloadRemedy?

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = MessageText.message(message)
        remedy = nil
    }

    package init(_ code: Code, remedy: PayloadRemedy) {
        self.code = code
        self.message = MessageText.message(remedy.message)
        self.remedy = remedy
    }

    public var description: String { "\(code.rawValue): \(message)" }
}

/// The setting that mends an error, so that a program can call it by its own name, such as that of an option.
public struct PayloadRemedy: Codable, Sendable, Hashable {
    public enum Setting: String, Codable, Sendable, Hashable {
        /// The key of the media's URL.
        case mediaKey
        /// The systems that the media is for.
        case targets
    }

    public let setting: Setting
    /// What to set it to, and why: the rest of the message.
    private let rest: String

    package init(_ setting: Setting, _ rest: String) {
        (self.setting, self.rest) = (setting, MessageText.message(rest))
    }

    /// The message, with the setting under the name that all callers know.
    public var message: String {
        switch setting {
        case .mediaKey: message("Set the media key ")
        case .targets: message("Name the targets ")
        }
    }

    /// The message with another beginning, such as `Use --media-key `.
    public func message(_ beginning: String) -> String { MessageText.message(beginning + rest) }
}
