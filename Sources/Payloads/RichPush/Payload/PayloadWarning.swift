internal import SafeArithmetic

/// A warning about a payload: what iOS or an app's SDK would do with it, and what to change.
public struct PayloadWarning: Codable, Sendable, Hashable {
    /// A stable warning code.
    public enum Code: String, Codable, Sendable, Hashable, CaseIterable {
        /// Without `mutable-content` the service extension does not run: no media.
        case mutableContentMissing = "payload.mutable_content_missing"
        /// `mutable-content` is `true`; Apple documents the number 1.
        case mutableContentSpelling = "payload.mutable_content_spelling"
        /// Without an alert the service extension does not run: no media.
        case alertMissing = "payload.alert_missing"
        /// An http URL, which App Transport Security blocks.
        case insecureURL = "payload.insecure_url"
        /// A URL with invalid characters, which iOS before 17 cannot parse.
        case urlMalformed = "payload.url_malformed"
        /// A URL without an extension: many apps name the file after the URL, and iOS then gets no type.
        case extensionMissing = "payload.extension_missing"
        /// A type that iOS drops.
        case typeNotAttachable = "payload.type_not_attachable"
        /// The declared type and the extension contradict each other.
        case typeContradicted = "payload.type_contradicted"
        /// The service's SDK saves the file under the extension of another type.
        case fileNameContradicted = "payload.file_name_contradicted"
        /// The service does not animate the image, or names every file alike.
        case typeNotShown = "payload.type_not_shown"
        /// A category whose content extension, if it has one, draws the media and hides the collapsed thumbnail.
        case contentExtension = "payload.content_extension"
        /// An invalid option; it is ignored.
        case optionInvalid = "payload.option_invalid"
        /// An option that does not apply to the prepared file; it is removed.
        case optionRemoved = "payload.option_removed"
        /// Not a URL, or one that only the app can complete; it stays unchanged.
        case addressNotFetched = "payload.address_not_fetched"
        /// Further media at other keys or in another dialect; it stays unchanged.
        case otherMedia = "payload.other_media"
        /// Media of another system, which the request does not name or could not be made; it stays unchanged.
        case strayMedia = "payload.stray_media"
        /// A key that senders write and no system reads, such as `webpush.headers.image`.
        case mediaIgnored = "payload.media_ignored"
        /// An image that Android's SDK does not show: a GIF, a movie, audio, or an image other than JPEG, PNG or BMP.
        case androidType = "payload.android_type"
        /// An image that Android's SDK does not download: more than 1,048,576 bytes.
        case androidTooLarge = "payload.android_too_large"
        /// Over the 4,096 bytes of APNs or FCM, or what a web push message may have.
        case tooLarge = "payload.too_large"
        /// Media that cannot be delivered; it is removed.
        case mediaRemoved = "payload.media_removed"
        /// An optional part that was dropped to fit 4,096 bytes.
        case partDropped = "payload.part_dropped"
        /// The rewritten payload would be over APNs' 4,096 bytes; it is returned as it was.
        case notRewritten = "payload.not_rewritten"
    }

    /// The effect on the notification.
    public enum Level: String, Codable, Sendable, Hashable, CaseIterable {
        /// The media is not shown, or the payload is not delivered.
        case error
        /// The media may be shown wrongly, or not on every device.
        case warning
        /// For information; no change is necessary.
        case note
    }

    public let code: Code
    public let level: Level
    /// One sentence for people: the path, what iOS does, what to change.
    public let message: String

    /// Creates a warning.
    ///
    /// - Parameters:
    ///   - code: What the warning is about.
    ///   - message: One sentence for people.
    ///   - level: Nil for the default level of the code.
    public init(_ code: Code, _ message: String, level: Level? = nil) {
        self.code = code
        self.level = level ?? code.level
        self.message = MessageText.message(message)
    }

    /// Decodes a warning; a missing `level`, as in output of older versions, becomes the code's default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        code = try values.decode(Code.self, forKey: .code)
        level = try values.decodeIfPresent(Level.self, forKey: .level) ?? code.level
        message = MessageText.message(try values.decode(String.self, forKey: .message))
    }
}

extension PayloadWarning.Code {
    /// The default level.
    public var level: PayloadWarning.Level {
        switch self {
        case .mutableContentMissing, .alertMissing, .insecureURL, .typeNotAttachable, .tooLarge, .mediaRemoved: .error
        case .urlMalformed, .extensionMissing, .typeContradicted, .fileNameContradicted, .typeNotShown,
            .optionInvalid, .addressNotFetched, .notRewritten, .strayMedia, .mediaIgnored, .androidType,
            .androidTooLarge:
            .warning
        case .mutableContentSpelling, .contentExtension, .otherMedia, .optionRemoved, .partDropped: .note
        }
    }
}
