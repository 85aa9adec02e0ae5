import AttachPrepModel
import MediaEngine
import RichPush

/// The errors of web pages. Each message gives what failed and what to do.
extension AttachPrepError {
    /// - Parameter link: What the page names, if that has been read.
    static func sourceIsPage(_ mimeType: String, names link: PageLink?) -> AttachPrepError {
        guard let link else {
            return AttachPrepError(
                .mediaUnrecognized,
                "The source is \(mimeType), not an image, audio or movie file; check that the URL leads to the file.")
        }
        let scheme = link.url.prefix(8).lowercased()
        // A relative URL is not shown: its base is not known here.
        let isWhole = scheme.hasPrefix("http://") || scheme == "https://"
        let url = RedactedURL.redact(link.url).bounded(characters: 500)
        let name = isWhole ? "its \(link.property.rawValue) is \(url)" : "it names an \(link.property.rawValue)"
        return AttachPrepError(
            .mediaUnrecognized,
            "The source is a web page (\(mimeType)), not an image, audio or movie file; \(name): request that URL, or "
                + "set unfurl to use it.")
    }

    static func nestedPage(_ page: ManifestPage) -> AttachPrepError {
        AttachPrepError(
            .mediaUnrecognized,
            "The \(page.property.rawValue) of the web page is another web page; request the file itself.")
    }

    static let pageWithoutMedia = AttachPrepError(
        .mediaUnrecognized,
        "The web page names no image or video (og:video, og:image, twitter:image, image_src or oEmbed); request the "
            + "file itself.")

    static func oEmbedTooLarge(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The oEmbed answer of \(host) is over the limit of \(Limits.oEmbedBytesMax.grouped) bytes; request the "
                + "file itself.")
    }

    static func oEmbedWithoutImage(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .mediaUnrecognized, "The oEmbed answer of \(host) has no image; request the file itself.")
    }
}
