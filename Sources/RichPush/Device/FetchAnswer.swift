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
    /// None of Apple's eleven types, by what is said of it and by its first bytes.
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
        let type = type(in: answer)
        // Nobody says what it is: the first bytes will.
        guard type != nil || !answer.isKnownType else { return .type }
        return answer.contentLength.flatMap { refusal(ofLength: $0, bytesMax: type?.bytesMax) }
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
    /// - Parameters:
    ///   - type: of the file, by what is said of it or by its first bytes.
    ///   - digest: its SHA-256 in lower-case hexadecimal; asked for only when all else agrees and there is one to
    ///     compare it with.
    public func refusal(
        of answer: FetchAnswer, received: Int, type: AttachmentType?, digest: () throws -> String
    ) rethrows -> FetchRefusal? {
        if let refusal = refusal(of: answer) { return refusal }
        if let length = answer.contentLength, length != received { return .length }
        guard let type else { return .type }
        if let refusal = refusal(ofLength: received, bytesMax: type.bytesMax) { return refusal }
        if let sha256, try digest() != sha256 { return .digest }
        return nil
    }

    private func refusal(ofLength length: Int, bytesMax limit: Int?) -> FetchRefusal? {
        if length == 0 { return .empty }
        if let bytes, length != bytes { return .length }
        return length > limit ?? bytesMax ? .tooLarge : nil
    }
}

extension FetchAnswer {
    /// Portals of hotels and trains answer 200 to everything.
    fileprivate var isPage: Bool {
        essence.hasPrefix("text/") || ["application/json", "application/xhtml+xml"].contains(essence)
    }

    /// A type that is known, and not attachable when `AttachmentType` has no case for it.
    fileprivate var isKnownType: Bool { TypeNames.mimeTypes[essence] != nil }

    private var essence: String {
        (contentType ?? "").prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    }
}
