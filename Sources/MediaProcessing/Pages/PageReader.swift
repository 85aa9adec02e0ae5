import AttachPrepModel
import FileIO
import Glibc
import HTML
package import MediaEngine
import RichPush

/// Finds the links of a web page to its image or video: Open Graph, Twitter cards, `image_src` and oEmbed.
package enum PageReader {
    /// Reads a file.
    ///
    /// - Throws: `internal`, `deadline.exceeded`.
    package static func read(_ request: PageRequest, descriptor: CInt, deadline: ContinuousClock.Instant) throws
        -> PageLinks
    {
        let bytes: [UInt8]
        do {
            bytes = try FileIO.bytes(descriptor, at: 0, count: min(max(0, request.bytes), Limits.pageBytesMax))
        } catch {
            throw AttachPrepError(
                .internal, "The page could not be read back.", detail: "pread: errno \(error.code)")
        }
        return try links(bytes, charset: request.charset, deadline: deadline)
    }

    /// Reads a page in memory.
    package static func links(_ page: [UInt8], charset: String?, deadline: ContinuousClock.Instant) throws -> PageLinks
    {
        let text = PageText(page, declared: charset).text
        let tags: [HTMLTag]
        do {
            tags = try HTMLTagReader.tags(in: text, named: ["base", "meta", "link"]) {
                guard ContinuousClock.now < deadline else {
                    throw AttachPrepError(.deadlineExceeded, "The page was not read in time; allow more time (budget).")
                }
            }
        } catch let error as HTMLError {
            throw AttachPrepError(.internal, "The page could not be read.", detail: "\(error)")
        }
        var collected = CollectedLinks()
        for tag in tags { collected.add(tag) }
        return collected.links
    }
}

/// Collects links in the order of the page.
private struct CollectedLinks {
    private var base: String?
    private var found: [PageLink] = []
    /// Videos, by index, whose type has not been declared yet: `og:video:type` follows the URLs it belongs to.
    private var untypedVideos: [Int] = []
    /// Videos that are players or other documents.
    private var documents: Set<Int> = []

    var links: PageLinks {
        PageLinks(
            base: base,
            links: found.enumerated().filter { !documents.contains($0.offset) }.map(\.element))
    }

    mutating func add(_ tag: HTMLTag) {
        switch tag.name {
        case "base": base = base ?? tag.attributes["href"].flatMap(Self.url)
        case "meta": addMeta(tag.attributes)
        case "link": addLink(tag.attributes)
        default: break
        }
    }

    private mutating func addMeta(_ attributes: [String: String]) {
        // Pages mix up the two attributes.
        guard let name = attributes["property"] ?? attributes["name"], let content = attributes["content"] else {
            return
        }
        switch name.lowercased().filter({ !$0.isWhitespace }) {
        case "og:video", "og:video:url", "og:video:secure_url":
            guard append(.ogVideo, content) else { return }
            untypedVideos.append(found.count - 1)
        case "og:video:type":
            if !content.lowercased().contains("video/"), !content.lowercased().contains("mpegurl") {
                documents.formUnion(untypedVideos)
            }
            untypedVideos = []
        case "og:image", "og:image:url", "og:image:secure_url": append(.ogImage, content)
        case "twitter:image", "twitter:image:src": append(.twitterImage, content)
        default: break
        }
    }

    private mutating func addLink(_ attributes: [String: String]) {
        guard let href = attributes["href"] else { return }
        let relations = attributes["rel"]?.lowercased().split(whereSeparator: \.isWhitespace) ?? []
        if relations.contains("image_src") { append(.imageSource, href) }
        let type = attributes["type"]?.lowercased().prefix { $0 != ";" }.filter { !$0.isWhitespace }
        if relations.contains("alternate"), type == "application/json+oembed" { append(.oEmbed, href) }
    }

    @discardableResult
    private mutating func append(_ property: PageProperty, _ text: String) -> Bool {
        guard found.count < PageLinks.countMax, let url = Self.url(text) else { return false }
        let link = PageLink(property, url)
        guard !found.contains(link) else { return false }
        found.append(link)
        return true
    }

    /// A URL without the white space that browsers ignore; nil when nothing remains, it is too long or has control
    /// characters.
    private static func url(_ text: String) -> String? {
        var scalars = text.unicodeScalars.filter { !["\t", "\n", "\r"].contains($0) }[...]
        scalars = scalars.drop { $0 == " " }
        while scalars.last == " " { scalars.removeLast() }
        guard !scalars.isEmpty, scalars.allSatisfy({ $0.properties.generalCategory != .control }) else { return nil }
        let url = String(String.UnicodeScalarView(scalars)).replacing(" ", with: "%20")
        return url.utf8.count <= PageLinks.urlBytesMax ? url : nil
    }
}
