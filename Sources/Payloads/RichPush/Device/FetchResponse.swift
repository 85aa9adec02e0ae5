#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The header of a server's response.
public struct FetchResponse: Sendable, Hashable {
    public var status: Int
    /// The body length in bytes; nil when unknown, or when the body has a content coding.
    public var contentLength: Int?
    public var contentType: String?
    /// The file name that the platform derives from Content-Disposition or the URL.
    public var suggestedName: String?
    /// The URL of the response, after redirects.
    public var url: URL?

    public init(
        status: Int, contentLength: Int? = nil, contentType: String? = nil, suggestedName: String? = nil,
        url: URL? = nil
    ) {
        self.status = status
        self.contentLength = contentLength
        self.contentType = contentType
        self.suggestedName = suggestedName
        self.url = url
    }
}

/// Why a file is not attached.
public enum FetchError: String, Error, Sendable, Hashable, CaseIterable {
    /// The HTTP status is not 200.
    case status
    /// Not a type that iOS attaches, by declared type and by first bytes.
    case type
    /// A web page instead of media, such as a captive portal or an error page.
    case page
    /// The body has no bytes.
    case empty
    /// Over Apple's size limit for the kind.
    case tooLarge
    /// The length differs from the payload's or the server's.
    case length
    /// The SHA-256 differs from the payload's.
    case digest
    /// Larger than the app wants over this network, or of unknown length.
    case network
    /// A redirect to a URL that must not be followed.
    case redirect
    /// The download did not finish in time.
    case late
    /// The rest would not arrive in time, and there is a smaller rendition.
    case slow
    /// The connection failed.
    case connection
    /// The app's bundle has no such file.
    case missing
    /// A sealed file that is not what was sealed for this payload, or that cannot be opened here.
    case sealed
    /// iOS rejected the file.
    case notTaken
    /// The notification was delivered without the file.
    case cancelled
}

extension FetchCandidate {
    /// The reason not to begin a download; nil when it may begin.
    ///
    /// A file whose length the payload does not give is requested, and its length is checked in the response header.
    public var errorBeforeFetch: FetchError? {
        if let bytes, let networkBytesMax, bytes > networkBytesMax { return .network }
        return nil
    }

    /// The reason to abort a download after the response header; nil when it may continue.
    public func error(of response: FetchResponse) -> FetchError? {
        guard response.status == 200 else { return (300..<400).contains(response.status) ? .redirect : .status }
        if response.isPage { return .page }
        // The type of a sealed file is inside.
        let type = sealed == nil ? type(in: response) : nil
        // An unknown type is decided by the first bytes.
        guard type != nil || sealed != nil || !response.isKnownType else { return .type }
        if let error = response.contentLength.flatMap({ error(ofLength: $0, bytesMax: type?.bytesMax) }) {
            return error
        }
        guard let networkBytesMax else { return nil }
        return response.contentLength ?? bytes ?? .max > networkBytesMax ? .network : nil
    }

    /// The reason to abort a download; nil when it may continue.
    ///
    /// - Parameters:
    ///   - received: The bytes that have arrived.
    ///   - expected: The length that the server announced; nil when unknown.
    public func error(received: Int, expected: Int?) -> FetchError? {
        if let bytes, let expected, expected != bytes { return .length }
        if let expected, expected > bytesMax { return .tooLarge }
        if let networkBytesMax, max(received, expected ?? 0) > networkBytesMax { return .network }
        if let bytes, received > bytes { return .length }
        return received > bytesMax ? .tooLarge : nil
    }

    /// The reason to discard a completely downloaded file; nil when it is valid.
    ///
    /// - Parameters:
    ///   - response: The header of the response.
    ///   - received: The length of the file in bytes.
    ///   - type: The type of the file, as declared or by its first bytes; not used for a sealed file.
    ///   - digest: Returns the file's SHA-256 in lowercase hexadecimal; called only when all other checks pass and the
    ///     payload has a digest.
    public func error(
        of response: FetchResponse, received: Int, type: DeviceFileType?, digest: () throws -> String
    ) rethrows -> FetchError? {
        if let error = error(of: response) { return error }
        if let length = response.contentLength, length != received { return .length }
        guard sealed == nil else { return error(ofLength: received, bytesMax: nil) }
        guard let type else { return .type }
        if let error = error(ofLength: received, bytesMax: type.bytesMax) { return error }
        if let sha256, try digest() != sha256 { return .digest }
        return nil
    }

    /// The reason to discard a sealed file that was opened; nil when it is what the payload says.
    ///
    /// - Parameters:
    ///   - bytes: The length of its content in bytes.
    ///   - type: The type of its content.
    public func error(ofOpened bytes: Int, type: DeviceFileType) -> FetchError? {
        guard let sealed, sealed.kind == type.kind, sealed.bytes == bytes else { return .sealed }
        return bytes > type.bytesMax ? .tooLarge : nil
    }

    private func error(ofLength length: Int, bytesMax limit: Int?) -> FetchError? {
        if length == 0 { return .empty }
        if let bytes, length != bytes { return .length }
        return length > (role == .avatar ? bytesMax : limit ?? bytesMax) ? .tooLarge : nil
    }
}

extension FetchResponse {
    /// Whether the response is a web page: captive portals answer every request with status 200.
    fileprivate var isPage: Bool {
        essence.hasPrefix("text/") || ["application/json", "application/xhtml+xml"].contains(essence)
    }

    /// Whether the MIME type is known; a known type without an `AttachmentType` is not attachable.
    fileprivate var isKnownType: Bool { MediaTypeNames.mimeTypes[essence] != nil }

    private var essence: String {
        (contentType ?? "").prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    }
}

/// The file name to attach a file under: iOS takes the type from the type hint, or else from the file name.
extension FetchCandidate {
    /// The type in the payload, or else that of the response: Content-Type, suggested file name, final URL.
    public func type(in response: FetchResponse) -> DeviceFileType? {
        declaredType
            ?? response.contentType.flatMap(DeviceFileType.init(mimeType:))
            ?? response.suggestedName.flatMap(DeviceFileType.init(name:))
            ?? response.url.flatMap { DeviceFileType(name: $0.path) }
            ?? addressType
    }

    /// The type by the extension of the payload's URL (before redirects) or file name.
    public var addressType: DeviceFileType? {
        switch source {
        case .web(let url): DeviceFileType(name: url.path)
        case .bundle(let name): DeviceFileType(name: name)
        }
    }

    /// The file name, without folders, with the extension of `type`.
    public func fileName(_ type: DeviceFileType) -> String {
        let stem = role == .thumbnail ? "thumbnail" : role == .avatar ? "avatar" : "attachment"
        return "\(stem).\(type.fileExtension)"
    }
}
