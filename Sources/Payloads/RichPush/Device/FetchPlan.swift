#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The files that a device fetches for one notification, in order of preference.
///
/// The device shows the first attachment that arrives. It shows a thumbnail when no attachment arrives in time;
/// `FetchDeadline` defines when the thumbnail is fetched.
///
/// An attachment with a smaller rendition is followed by it; over an expensive or constrained network, it is the other
/// way around. An attachment that ``FetchPace`` finds too slow is given up for its smaller rendition.
public struct FetchPlan: Sendable, Hashable {
    public let attachments: [FetchCandidate]
    public let thumbnails: [FetchCandidate]
    /// The sender's picture, which is fetched in parallel.
    public let avatar: FetchCandidate?

    /// Creates the plan of a notification.
    ///
    /// - Parameters:
    ///   - content: The content of the payload.
    ///   - kinds: The kinds in the order in which the app wants them; attachments of other or unknown kinds follow.
    ///     Empty for the order of the payload.
    ///   - network: How the device is connected.
    ///   - limits: The largest files to fetch over such a network.
    public init(
        _ content: PushContent, kinds: [MediaKind] = [], network: FetchNetwork = FetchNetwork(),
        limits: FetchNetworkLimits = FetchNetworkLimits()
    ) {
        let networkBytesMax = limits.bytesMax(on: network)
        let items = content.attachments.prefix(Limits.payloadMediaMax)
        // Some payloads name one image twice; fetch it once.
        var known: Set<FetchCandidate.Source> = []
        let ordered = items.compactMap(FetchCandidate.init(attachment:)).enumerated()
            .map { (rank: $1.kind.flatMap(kinds.firstIndex) ?? kinds.count, index: $0, candidate: $1) }
            .sorted { ($0.rank, $0.index) < ($1.rank, $1.index) }
        func limited(_ candidates: [FetchCandidate]) -> [FetchCandidate] {
            candidates.filter { known.insert($0.source).inserted }.map { candidate in
                var limited = candidate
                if case .web = candidate.source { limited.networkBytesMax = networkBytesMax }
                return limited
            }
        }
        let pictures = items.compactMap(FetchCandidate.init(smallerOf:))
        attachments = limited(
            ordered.flatMap { ordered -> [FetchCandidate] in
                var whole = ordered.candidate
                let smaller = pictures.first { $0.attachmentID == whole.attachmentID }
                if network.prefersSmaller { return [smaller, whole].compactMap { $0 } }
                whole.hasSmaller = smaller != nil
                return [whole, smaller].compactMap { $0 }
            })
        thumbnails = limited(items.compactMap(FetchCandidate.init(thumbnailOf:)))
        avatar = content.avatar.flatMap(FetchCandidate.init(avatar:)).map { limited([$0]).first ?? $0 }
    }

    /// The attachment whose thumbnail the collapsed notification shows when `candidate` hides its own: the next one
    /// with a visible thumbnail.
    ///
    /// Both are attached; the expanded notification shows the first. Nil when `candidate` shows its thumbnail, or when
    /// no later attachment does.
    public func companion(of candidate: FetchCandidate) -> FetchCandidate? {
        guard candidate.options.thumbnailHidden == true, let index = attachments.firstIndex(of: candidate) else {
            return nil
        }
        return attachments[(index + 1)...].first {
            $0.options.thumbnailHidden != true && $0.attachmentID != candidate.attachmentID
        }
    }

    /// The attachments to fetch after `candidate` has arrived, when all are shown: a carousel.
    ///
    /// A fallback of a payload's media, and another rendition of it, are not fetched after that media.
    public func others(after candidate: FetchCandidate) -> ArraySlice<FetchCandidate> {
        guard let index = attachments.firstIndex(of: candidate) else { return [] }
        let same = [candidate.attachmentID, PushAttachment.fallbackID(of: candidate.attachmentID)]
        return attachments[(index + 1)...].drop { same.contains($0.attachmentID) }
    }

    /// Whether there is nothing to fetch, so that the notification is delivered immediately.
    public var isEmpty: Bool { attachments.isEmpty && thumbnails.isEmpty && avatar == nil }
}

/// A file that a device may attach: its source, expected size and digest, and attachment options.
public struct FetchCandidate: Sendable, Hashable {
    public enum Role: Sendable, Hashable {
        case attachment
        /// A still with much fewer bytes than the attachment.
        case smaller
        /// Shown instead of an attachment that does not arrive.
        case thumbnail
        /// The sender's picture.
        case avatar
    }

    public enum Source: Sendable, Hashable {
        /// An http or https URL.
        case web(URL)
        /// The name of a file in the app's bundle, without folders.
        case bundle(String)
    }

    public let role: Role
    /// The identifier of the `UNNotificationAttachment`.
    public let id: String
    /// The identifier of the payload's attachment, which its renditions share.
    public let attachmentID: String
    public let source: Source
    /// Expected file size in bytes.
    public let bytes: Int?
    /// Expected SHA-256 in lowercase hexadecimal.
    public let sha256: String?
    public let options: PushAttachmentOptions
    /// How the file is opened after it was fetched; nil for a file that is not sealed.
    public let sealed: PushSeal?
    /// The largest file to fetch over the current network, in bytes; nil for no such limit. A file of unknown length
    /// counts as larger.
    public var networkBytesMax: Int?
    /// Whether the file is given up for its smaller rendition when it arrives too slowly.
    public var hasSmaller = false

    /// Nil when the attachment has no valid URL or file name, or exceeds Apple's limit.
    init?(attachment: PushAttachment) {
        guard let source = Source(url: attachment.url, file: attachment.file) else { return nil }
        role = .attachment
        (id, attachmentID) = (attachment.id, attachment.id)
        self.source = source
        bytes = attachment.bytes
        sha256 = attachment.sha256
        options = attachment.options ?? PushAttachmentOptions()
        sealed = attachment.sealed
        guard isWithinLimits else { return nil }
    }

    /// Nil when the attachment has no thumbnail, or the thumbnail has no valid URL or exceeds Apple's limit.
    init?(thumbnailOf attachment: PushAttachment) {
        guard let thumbnail = attachment.thumbnail else { return nil }
        let seal = attachment.sealed.flatMap { seal in
            thumbnail.sealed.map { PushSeal(secret: seal.secret, kind: $0.kind, bytes: $0.bytes) }
        }
        self.init(thumbnail, .thumbnail, id: "\(attachment.id)-thumbnail", of: attachment.id, sealed: seal)
    }

    /// Nil when the attachment has no smaller rendition, or that has no valid URL or exceeds Apple's limit.
    init?(smallerOf attachment: PushAttachment) {
        guard let smaller = attachment.smaller, attachment.sealed == nil else { return nil }
        self.init(smaller, .smaller, id: "\(attachment.id)-smaller", of: attachment.id)
    }

    /// Nil when the picture has no valid URL, or more bytes than an extension can keep in memory.
    init?(avatar: PushPicture) {
        self.init(avatar, .avatar, id: PushContent.avatarID, of: PushContent.avatarID)
    }

    /// The attachment's options (crop, time, type) do not apply to its pictures.
    private init?(_ picture: PushPicture, _ role: Role, id: String, of attachmentID: String, sealed: PushSeal? = nil) {
        guard let source = Source(url: picture.url, file: nil) else { return nil }
        (self.role, self.id, self.attachmentID) = (role, id, attachmentID)
        self.source = source
        (bytes, sha256) = (picture.bytes, picture.sha256)
        options = PushAttachmentOptions()
        self.sealed = sealed
        guard isWithinLimits else { return nil }
    }

    private var isWithinLimits: Bool {
        guard bytes ?? 0 <= bytesMax else { return false }
        return sealed.map { $0.bytes <= Limits.attachmentBytesMax($0.kind) } ?? true
    }

    /// The type of the payload's type hint; nil when it is missing or not attachable.
    public var declaredType: DeviceFileType? { options.typeHint.flatMap(DeviceFileType.init(uti:)) }

    /// The kind that a sealed file contains, or that of the declared type, or else of the type by the URL's extension;
    /// nil when all are unknown.
    public var kind: MediaKind? { sealed?.kind ?? (declaredType ?? addressType)?.kind }

    /// Apple's size limit, in bytes, for the declared kind; the default is image for a picture, else movie. For a
    /// sealed file, with room for the seal. The sender's picture has a limit of its own.
    public var bytesMax: Int {
        if role == .avatar { return Limits.deviceAvatarBytesMax }
        let kind = sealed?.kind ?? declaredType?.kind ?? (role == .attachment ? .movie : .image)
        let limit = Limits.attachmentBytesMax(kind)
        return sealed == nil ? limit : limit + limit / 8 + Limits.deviceSealBytesMax
    }
}

extension FetchCandidate.Source {
    init?(url: String?, file: String?) {
        if let url = url.flatMap(PushContent.webAddress) {
            self = .web(url)
        } else if let name = file?.split(separator: "/").last.map(String.init), !["", ".", ".."].contains(name) {
            self = .bundle(name)
        } else {
            return nil
        }
    }
}

/// Time limits for the downloads of one notification, in seconds since it arrived.
///
/// - The thumbnail download starts in parallel when no attachment has arrived after `thumbnailAfterSeconds`, or as soon
///   as all attachments have failed. iOS may end the extension long before its documented 30 s; the thumbnail is then
///   available.
/// - An attachment may use all of the remaining time; the next one is tried when a download fails, not when it is slow.
/// - A download starts only when enough time remains for it.
public struct FetchDeadline: Sendable, Hashable {
    /// The total time, in seconds after the notification arrived.
    public let seconds: Double

    public init(seconds: Double = Limits.deviceSeconds) {
        self.seconds = seconds
    }

    /// The seconds that a download started now may take; nil when too few remain to start one.
    public func secondsLeft(after elapsed: Double) -> Double? {
        let left = seconds - elapsed - Limits.deviceReserveSeconds
        return left >= min(Limits.deviceFetchSecondsMin, seconds / 4) ? left : nil
    }

    /// Seconds after which the thumbnail is fetched in parallel with an attachment: at most half of the total time.
    public var thumbnailAfterSeconds: Double { min(Limits.deviceThumbnailSeconds, seconds / 2) }
}

/// The rules for following redirects.
public enum FetchRedirect {
    /// Whether a redirect may be followed: https only to https, http to http or https, at most `deviceRedirectsMax`.
    ///
    /// App Transport Security allows http only to apps that declare an exception.
    ///
    /// - Parameters:
    ///   - source: The URL that redirects.
    ///   - target: The URL to which it redirects.
    ///   - count: The number of redirects, including this one.
    public static func isAllowed(from source: URL?, to target: URL?, count: Int) -> Bool {
        guard count <= Limits.deviceRedirectsMax, let scheme = target?.scheme?.lowercased() else { return false }
        return scheme == "https" || (scheme == "http" && source?.scheme?.lowercased() == "http")
    }
}

extension Limits {
    /// Time for all downloads, from the notification's arrival: below Apple's 30 s and the 25 s after which SDKs give
    /// up.
    public static let deviceSeconds = 24.0
    /// Reserved for the digest of 50 MB and for delivering the notification.
    static let deviceReserveSeconds = 0.5
    /// The least time left to start a download: name resolution, connection and TLS take 0.75 s on 3G.
    static let deviceFetchSecondsMin = 1.0
    /// Time after which the thumbnail is fetched in parallel with a slow attachment: half of the 7 to 8 s measured
    /// before iOS ends an extension, and ten times what 10 KB take on 3G.
    public static let deviceThumbnailSeconds = 4.0
    /// The sender's picture is read into memory, of which an extension has 24 MB; a worker makes at most 50,000 bytes.
    static let deviceAvatarBytesMax = 1_000_000
    /// Bytes of a sealed file beside its content and the eighth that may be padding: tags, record and the first step.
    static let deviceSealBytesMax = 32_768
    /// Published URLs do not redirect; a CDN's may redirect once or twice, and each redirect costs 0.3 s or more on 3G.
    static let deviceRedirectsMax = 3
}
