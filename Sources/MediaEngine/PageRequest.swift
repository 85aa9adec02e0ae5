public import AttachPrepModel
package import RichPush

/// Requests the links to media of an HTML page.
public struct PageRequest: Codable, Sendable, Hashable {
    /// Bytes of the file to read, from its beginning.
    public var bytes: Int
    /// The character encoding that the server declared; nil when it declared none.
    public var charset: String?

    public init(bytes: Int, charset: String? = nil) {
        self.bytes = bytes
        self.charset = charset
    }
}

/// A link of a page to its image or video.
public struct PageLink: Codable, Sendable, Hashable {
    public var property: PageProperty
    /// As written in the page, without white space: often relative.
    public var url: String

    public init(_ property: PageProperty, _ url: String) {
        self.property = property
        self.url = url
    }
}

/// The links of a page; untrusted.
public struct PageLinks: Codable, Sendable, Hashable {
    /// What relative URLs are relative to (`base`); nil for the page's own URL.
    public var base: String?
    /// In the order of the page.
    public var links: [PageLink]

    public init(base: String? = nil, links: [PageLink] = []) {
        self.base = base
        self.links = links
    }

    /// Links of a page that are read; pages have one or two of each kind.
    package static let countMax = 64
    /// The longest link in bytes, as long as any URL may be.
    package static let urlBytesMax = 8_192
}

extension Limits {
    /// Bytes of a web page that are read; the rest is not downloaded. Links to media are in its head.
    package static let pageBytesMax = 1_048_576
}

extension MediaEngine {
    /// Reads the links to media of an HTML page.
    public func readPage(_ request: PageRequest, source: CInt, deadline: ContinuousClock.Instant) async throws
        -> PageLinks
    {
        let answer = try await perform(.readPage(request), descriptors: [source], deadline: deadline)
        guard case .page(let links) = answer else { throw wrongAnswer("readPage") }
        return links
    }
}
