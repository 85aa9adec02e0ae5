/// The web page that named the source, and how.
public struct ManifestPage: Codable, Sendable, Hashable {
    /// The URL of the page after redirects, without secrets.
    public var url: String
    public var property: PageProperty

    public init(url: String, property: PageProperty) {
        self.url = url
        self.property = property
    }
}

/// The ways in which a web page names its image or video, the preferred first.
public enum PageProperty: String, Codable, Sendable, Hashable, CaseIterable {
    case ogVideo = "og:video"
    case ogImage = "og:image"
    case twitterImage = "twitter:image"
    case imageSource = "image_src"
    /// The answer to an oEmbed request that the page links.
    case oEmbed = "oembed"
}
