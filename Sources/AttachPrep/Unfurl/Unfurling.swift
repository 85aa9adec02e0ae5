import AttachPrepModel
import FileIO
import MediaEngine
import RichPush
import SafeArithmetic

/// A web page that was downloaded for the media it names.
struct FoundPage: Sendable {
    let manifest: ManifestPage
    /// Of the page and of everything that was requested for it.
    let timings: DownloadTimings
}

/// Turns the links of a web page into downloads.
///
/// The links of a page are untrusted: each URL is checked like a redirect, none may lead to another page, and the
/// caller's headers and credentials are sent only to the origin of the requested URL.
struct Unfurling {
    struct Candidate: Sendable, Hashable {
        let property: PageProperty
        let address: WebAddress
    }

    private let request: AttachmentRequest
    private let downloader: Downloader
    private let deadline: ContinuousClock.Instant
    private let origin: WebAddress
    private let file: DownloadedFile
    private var timings: DownloadTimings

    /// - Parameter file: The page.
    /// - Throws: The errors of `WebAddress`.
    init(
        _ request: AttachmentRequest, _ downloader: Downloader, deadline: ContinuousClock.Instant,
        page file: DownloadedFile
    ) throws {
        self.request = request
        self.downloader = downloader
        self.deadline = deadline
        origin = try WebAddress(request.source, httpsOnly: downloader.policy.httpsOnly)
        self.file = file
        timings = file.timings
    }

    // MARK: Candidates

    /// The URLs to try, the preferred first.
    ///
    /// - Parameter makeFile: Makes an empty file, for the answer to an oEmbed request.
    /// - Throws: The error of the first invalid URL when none is valid; the errors of an oEmbed request.
    mutating func candidates(_ links: PageLinks, makeFile: () throws -> OwnedDescriptor) async throws -> [Candidate] {
        var base = file.address
        if let written = links.base, let address = try? base.following(written) { base = address }
        var (found, invalid): ([Candidate], AttachPrepError?) = ([], nil)
        for property in PageProperty.allCases {
            // A fragment alone is the page itself.
            for link in links.links where link.property == property && !link.url.hasPrefix("#") {
                do throws(AttachPrepError) {
                    let address = try base.following(link.url)
                    // A page that names itself, perhaps with another fragment.
                    guard address.text != file.address.text, !found.contains(where: { $0.address.text == address.text })
                    else { continue }
                    found.append(Candidate(property: property, address: address))
                } catch {
                    invalid = invalid ?? error
                }
            }
        }
        let direct = found.filter { $0.property != .oEmbed }
        if !direct.isEmpty { return Array(direct.prefix(Limits.pageCandidatesMax)) }
        if let first = found.first { return [try await embedded(first.address, makeFile())] }
        if let invalid { throw invalid }
        return []
    }

    /// The image of an oEmbed answer (https://oembed.com, 2.3.4): the photo, or the thumbnail of anything else.
    private mutating func embedded(_ address: WebAddress, _ file: OwnedDescriptor) async throws -> Candidate {
        let answer = try await downloader.download(downloadRequest(for: address), into: file.descriptor) { _, _ in
            .accepted(bytesMax: Limits.oEmbedBytesMax, tooLarge: .oEmbedTooLarge(address.host))
        }
        timings = timings.adding(answer.timings)
        guard let bytes = try? FileIO.bytes(file.descriptor, at: 0, count: answer.bytes) else {
            throw AttachPrepError(.internal, "An oEmbed answer could not be read back.")
        }
        guard let url = Self.image(ofAnswer: bytes) else { throw AttachPrepError.oEmbedWithoutImage(address.host) }
        return Candidate(property: .oEmbed, address: try answer.address.following(url))
    }

    /// The URL of the image in an oEmbed answer; nil without one.
    static func image(ofAnswer bytes: [UInt8]) -> String? {
        var parser = JSONParser(bytes)
        guard case .object(let members)? = (try? parser.top())?.content else { return nil }
        func text(_ key: String) -> String? {
            guard case .string(let text)? = members.first(where: { $0.key == key })?.node.content, !text.isEmpty else {
                return nil
            }
            return text
        }
        return text("type") == "photo" ? text("url") ?? text("thumbnail_url") : text("thumbnail_url")
    }

    // MARK: Downloads

    func downloadRequest(for address: WebAddress) -> DownloadRequest {
        DownloadRequest(
            url: address.text, headers: request.headers(for: address, from: origin), bytesMax: Limits.sourceBytesMax,
            deadline: deadline)
    }

    func page(_ property: PageProperty) -> FoundPage {
        FoundPage(manifest: ManifestPage(url: file.finalURL, property: property), timings: timings)
    }

    /// Whether to try the next link of the page: the target of this one is missing or is not media.
    static func allowsNextLink(_ error: AttachPrepError) -> Bool {
        [.mediaUnrecognized, .mediaUnsupported, .mediaEmpty, .sourceNotFound].contains(error.code)
    }
}

/// What a download does with a web page.
struct PageVerdict: Sendable {
    let request: AttachmentRequest
    let identification: SourceIdentification

    /// - Parameters:
    ///   - bytes: Bytes of the page so far.
    ///   - origin: The page that named this one; nil for the requested URL.
    /// - Throws: `media.unrecognized` unless the page may be read.
    func verdict(bytes: Int, from origin: FoundPage?) async throws -> DownloadVerdict {
        if let origin { throw AttachPrepError.nestedPage(origin.manifest) }
        if request.unfurls { return .prefix(bytes: Limits.pageBytesMax) }
        // Reads only the bytes received so far; without a readable link, the error names none.
        let received = PageRequest(bytes: min(bytes, Limits.identifyBytesLast))
        let links = try? await identification.readPage(received, sha256: nil).links
        let first = PageProperty.allCases.lazy.compactMap { property in
            links?.first { $0.property == property }
        }.first
        throw AttachPrepError.sourceIsPage(identification.media?.magicMIMEType ?? "text/html", names: first)
    }
}

extension DownloadTimings {
    /// The sum.
    func adding(_ other: DownloadTimings?) -> DownloadTimings {
        var sum = self
        if let other { sum.add(other) }
        return sum
    }
}

extension Limits {
    /// Links of a page that are tried: the first may be a player or missing.
    static let pageCandidatesMax = 3
    /// An oEmbed answer is a kilobyte of JSON.
    static let oEmbedBytesMax = 65_536
}
