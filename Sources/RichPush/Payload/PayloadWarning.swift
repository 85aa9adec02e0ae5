/// Something the sender of a payload should know: what iOS or an app's SDK would do with it, and the remedy.
public struct PayloadWarning: Codable, Sendable, Hashable {
    /// A stable warning code.
    public enum Code: String, Codable, Sendable, Hashable, CaseIterable {
        /// Without `mutable-content` the service extension does not run: no media.
        case mutableContentMissing = "payload.mutable_content_missing"
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

    public let code: Code
    /// One sentence for a person: the thing, what iOS does, the remedy.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
