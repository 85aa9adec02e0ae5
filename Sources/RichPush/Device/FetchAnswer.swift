#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What a server says before the bytes.
public struct FetchAnswer: Sendable, Hashable {
    public var status: Int
    /// Decimal bytes; nil when the server says nothing, or when they are packed on the way.
    public var contentLength: Int?
    public var contentType: String?
    /// As the platform works it out, from Content-Disposition or the address.
    public var suggestedName: String?
    /// Where the answer came from.
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
public enum FetchRefusal: String, Error, Sendable, Hashable, CaseIterable {
    /// Not exactly 200: a part or nothing of the file.
    case status
    /// None of Apple's eleven types, by anything that is said of it.
    case type
    /// A page in place of media: a portal's, or an error's.
    case page
    case empty
    /// More bytes than Apple takes of its kind.
    case tooLarge
    /// Not the number of bytes that the payload or the server gave.
    case length
    /// Not the content that was prepared.
    case digest
    /// To an address that is not to be followed.
    case redirect
    /// Not here in its time.
    case late
    /// The connection failed.
    case connection
    /// The app has no such file.
    case missing
    /// iOS did not take it.
    case notTaken
    /// The notification was handed over without it.
    case cancelled
}

extension FetchCandidate {
    /// Why the rest of an answer need not be waited for; nil when it may be what was asked for.
    public func refusal(of answer: FetchAnswer) -> FetchRefusal? {
        guard answer.status == 200 else { return (300..<400).contains(answer.status) ? .redirect : .status }
        if answer.isPage { return .page }
        guard let type = type(in: answer) else { return .type }
        return answer.contentLength.flatMap { refusal(ofLength: $0, type: type) }
    }

    /// Why no more bytes are wanted; nil while they may be the file's.
    ///
    /// - Parameter expected: what the server announced, when it did.
    public func refusal(received: Int, expected: Int?) -> FetchRefusal? {
        if let bytes, let expected, expected != bytes { return .length }
        if let expected, expected > bytesMax { return .tooLarge }
        if let bytes, received > bytes { return .length }
        return received > bytesMax ? .tooLarge : nil
    }

    /// Why a file that has arrived whole is not the one; nil when it is.
    ///
    /// - Parameter sha256: of the file, in lower-case hexadecimal.
    public func refusal(of answer: FetchAnswer, received: Int, sha256 found: String?) -> FetchRefusal? {
        if let refusal = refusal(of: answer) { return refusal }
        if let length = answer.contentLength, length != received { return .length }
        if let type = type(in: answer), let refusal = refusal(ofLength: received, type: type) { return refusal }
        if let sha256, found != sha256 { return .digest }
        return nil
    }

    private func refusal(ofLength length: Int, type: AttachmentType) -> FetchRefusal? {
        if length == 0 { return .empty }
        if let bytes, length != bytes { return .length }
        return length > type.bytesMax ? .tooLarge : nil
    }
}

extension FetchAnswer {
    /// Portals of hotels and trains answer 200 to everything.
    fileprivate var isPage: Bool {
        let essence = (contentType ?? "").prefix { $0 != ";" }.lowercased()
        return essence.hasPrefix("text/") || ["application/json", "application/xhtml+xml"].contains(essence)
    }
}
