/// Something the sender of a payload should know: what iOS or an app's SDK would do with it, and the remedy.
public struct PayloadWarning: Codable, Sendable, Hashable {
    /// A stable warning code.
    public enum Code: String, Codable, Sendable, Hashable, CaseIterable {
        /// Without `mutable-content` the service extension does not run: no media.
        case mutableContentMissing = "payload.mutable_content_missing"
        /// `mutable-content` is `true`; Apple documents the number 1.
        case mutableContentSpelling = "payload.mutable_content_spelling"
        /// Without an alert the service extension does not run either.
        case alertMissing = "payload.alert_missing"
        /// App Transport Security refuses http.
        case insecureURL = "payload.insecure_url"
        /// Characters that no URL has: older iOS versions make no URL of it.
        case urlMalformed = "payload.url_malformed"
        /// Many apps name the file after the URL: without an extension iOS cannot tell the type.
        case extensionMissing = "payload.extension_missing"
        /// A type that iOS drops.
        case typeNotAttachable = "payload.type_not_attachable"
        /// The type word and the address contradict each other.
        case typeContradicted = "payload.type_contradicted"
        /// The service will not animate this, or names every file alike.
        case typeNotShown = "payload.type_not_shown"
        /// A category whose content extension takes the collapsed thumbnail away.
        case contentExtension = "payload.content_extension"
        /// An option that cannot be read, and is left out.
        case optionInvalid = "payload.option_invalid"
        /// An option without a meaning for the media as it is delivered, taken out.
        case optionRemoved = "payload.option_removed"
        /// An address that is none, or one that only the app can complete; left as it is.
        case addressNotFetched = "payload.address_not_fetched"
        /// More media, in another place or another dialect; left as it is.
        case otherMedia = "payload.other_media"
        /// Over APNs' 4,096 bytes.
        case tooLarge = "payload.too_large"
        /// Media that cannot be delivered, taken out.
        case mediaRemoved = "payload.media_removed"
        /// An optional part left out to stay within 4,096 bytes.
        case partDropped = "payload.part_dropped"
    }

    /// What follows for the notification.
    public enum Level: String, Codable, Sendable, Hashable, CaseIterable {
        /// The media is not shown, or the payload is not delivered.
        case error
        /// The media may be shown wrongly, or not on every device.
        case warning
        /// A choice of the sender's that has a consequence; nothing has to change.
        case note
    }

    public let code: Code
    public let level: Level
    /// One sentence for a person: the thing, what iOS does, the remedy.
    public let message: String

    /// - Parameter level: nil for the code's usual one.
    public init(_ code: Code, _ message: String, level: Level? = nil) {
        self.code = code
        self.level = level ?? code.level
        self.message = message
    }

    /// Reads warnings of versions without levels, too.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        code = try values.decode(Code.self, forKey: .code)
        level = try values.decodeIfPresent(Level.self, forKey: .level) ?? code.level
        message = try values.decode(String.self, forKey: .message)
    }
}

extension PayloadWarning.Code {
    /// How bad it usually is.
    public var level: PayloadWarning.Level {
        switch self {
        case .mutableContentMissing, .alertMissing, .insecureURL, .typeNotAttachable, .tooLarge, .mediaRemoved: .error
        case .urlMalformed, .extensionMissing, .typeContradicted, .typeNotShown, .optionInvalid, .addressNotFetched:
            .warning
        case .mutableContentSpelling, .contentExtension, .otherMedia, .optionRemoved, .partDropped: .note
        }
    }
}
