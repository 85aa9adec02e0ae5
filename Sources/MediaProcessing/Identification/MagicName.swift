package import RichPush

/// What libmagic's names mean to us, for content that our own signatures do not know.
package enum MagicName {
    /// The meaning of a name.
    package enum Verdict: Sendable, Hashable {
        /// A format we work with.
        case media(MediaFormat)
        /// A picture we know by name only.
        case unsupportedMedia
        /// A document, an archive, a program, text.
        case notMedia
        /// libmagic does not know: the decoders decide.
        case anything
    }

    /// The decision. libmagic guesses at sound and video by weak patterns, so its word alone refuses none of them.
    package static func verdict(_ mimeType: String) -> Verdict {
        if let format = formats[mimeType] { return .media(format) }
        if mimeType == "application/octet-stream" { return .anything }
        if mimeType.hasPrefix("image/") { return .unsupportedMedia }
        if mimeType.hasPrefix("audio/") || mimeType.hasPrefix("video/") { return .anything }
        return .notMedia
    }

    private static let formats: [String: MediaFormat] = [
        "image/svg+xml": .svg,
        "audio/midi": .midi,
    ]
}
