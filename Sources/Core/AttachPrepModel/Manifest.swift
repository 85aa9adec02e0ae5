import FoundationEssentials
public import MediaTypes
import SafeArithmetic

/// The result of one request: source, outcome, files and attachment options.
///
/// Every key is present and a missing value is null, unless a property says that it is left out. Timings are in
/// milliseconds, durations and times in seconds, dimensions in pixels as displayed, sizes in bytes.
public struct Manifest: Codable, Sendable, Hashable {
    /// The current schema version.
    public static let currentSchema = 1

    public var schema = Manifest.currentSchema
    /// The caller's id, or one derived from source and options.
    public var id: String
    /// Hash of everything in the request that changes the result; `--resume` compares it.
    public var requestDigest: String
    public var outcome: Outcome
    /// Why the outcome was chosen: sentences for people; programs must not parse them.
    public var reasons: [String]
    public var source: ManifestSource
    @Nullable public var attachment: ManifestFile? = nil
    @Nullable public var thumbnail: ManifestImage? = nil
    @Nullable public var crop: ManifestImage? = nil
    /// The pictures beside iOS's attachment, by key: `iosSmall`, `android`, `web`, `webIcon`, `webBadge`, `avatar`, or
    /// the name of an operator's profile. Left out when it is nil: the request names no such target. A target that
    /// could not be made is missing here and has a warning.
    public var renditions: [String: ManifestRendition]?
    @Nullable public var options: AttachmentOptions? = nil
    /// How the files are sealed. Left out when it is nil: the request did not ask for it.
    public var sealed: ManifestSeal?
    /// Expected fetch time of the attachment in seconds, by `NetworkProfile` name.
    @Nullable public var deviceFetch: [String: Double]? = nil
    public var timings: ManifestTimings
    public var warnings: [PreparationWarning]
    @Nullable public var error: ManifestError? = nil

    public init(id: String, requestDigest: String, outcome: Outcome, source: ManifestSource) {
        self.id = id
        self.requestDigest = requestDigest
        self.outcome = outcome
        reasons = []
        self.source = source
        timings = ManifestTimings()
        warnings = []
    }
}

extension Manifest {
    /// The file name of the manifest in a result's folder.
    public static let fileName = "manifest.json"

    /// One line of JSON, keys in alphabetical order.
    ///
    /// - Throws: What `JSONEncoder` throws; every value of a manifest can be encoded.
    public func json() throws -> String.UTF8View {
        try JSONEncoder.singleLine.text(self).utf8
    }

    /// Decodes a manifest.
    ///
    /// - Throws: What `JSONDecoder` throws.
    public init(json: some Sequence<UInt8>) throws {
        self = try ForeignJSON.decode(Manifest.self, from: json)
    }
}

/// The source of a request, and what the server declared about it.
public struct ManifestSource: Codable, Sendable, Hashable {
    /// The requested URL, without user info; signing query values are replaced by REDACTED.
    public var url: String
    /// The URL after redirects.
    @Nullable public var finalURL: String? = nil
    /// The MIME type that the server declared.
    @Nullable public var declaredMIMEType: String? = nil
    /// The MIME type detected from the content.
    @Nullable public var mimeType: String? = nil
    @Nullable public var bytes: Int? = nil
    /// SHA-256 of the source in lowercase hexadecimal.
    @Nullable public var sha256: String? = nil
    /// Whether iOS shows the source unchanged: it is intact, of a type and codecs that iOS attaches, and within Apple's
    /// limit. The request's own limits do not count. Left out when it is nil: the source was not fetched, or not
    /// decoded to its end.
    public var attachable: Bool?

    public init(url: String) {
        self.url = url
    }
}

/// The attachment: the file to pass to `UNNotificationAttachment`.
public struct ManifestFile: Codable, Sendable, Hashable {
    /// The file name in the result folder of the request; of a sealed file, in the folder of files by content.
    public var file: String
    /// The URL at which the file is served; null without a base URL.
    @Nullable public var url: String? = nil
    public var kind: MediaKind
    public var uti: String
    public var mimeType: String
    public var bytes: Int
    public var sha256: String
    /// What a sealed file contains; `mimeType`, `bytes` and `sha256` are those of the sealed file then. Left out when
    /// it is nil: the file is not sealed.
    public var sealed: SealedContent?
    /// Width in pixels as displayed; null for audio.
    @Nullable public var width: Int? = nil
    @Nullable public var height: Int? = nil
    /// Number of frames of an image (1 for a still); null for audio and movies.
    @Nullable public var frames: Int? = nil
    /// Duration in seconds; null for a still.
    @Nullable public var duration: Double? = nil

    public init(file: String, type: AttachmentType, bytes: Int, sha256: String) {
        self.file = file
        kind = type.kind
        uti = type.uti
        mimeType = type.mimeType
        self.bytes = bytes
        self.sha256 = sha256
    }
}

/// An image file beside the attachment: the thumbnail (with a time) or the crop (without).
public struct ManifestImage: Codable, Sendable, Hashable {
    public var file: String
    public var url: String?
    public var mimeType: String
    public var bytes: Int
    public var sha256: String
    /// What a sealed file contains, as in `ManifestFile`; left out of others.
    public var sealed: SealedContent?
    public var width: Int
    public var height: Int
    /// The frame that the image shows: seconds in a movie, frame number of an animation; nil for a still source.
    public var time: Double?
    /// Whether the `time` key is encoded; false for a crop.
    public var isTimed: Bool

    public init(
        file: String, mimeType: String, bytes: Int, sha256: String, width: Int, height: Int, isTimed: Bool,
        time: Double? = nil
    ) {
        self.file = file
        self.mimeType = mimeType
        self.bytes = bytes
        self.sha256 = sha256
        self.width = width
        self.height = height
        self.isTimed = isTimed
        self.time = time
    }

    private enum CodingKeys: String, CodingKey {
        case file, url, mimeType, bytes, sha256, sealed, width, height, time
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        file = try values.decode(String.self, forKey: .file)
        url = try values.decodeIfPresent(String.self, forKey: .url)
        mimeType = try values.decode(String.self, forKey: .mimeType)
        bytes = try values.decode(Int.self, forKey: .bytes)
        sha256 = try values.decode(String.self, forKey: .sha256)
        sealed = try values.decodeIfPresent(SealedContent.self, forKey: .sealed)
        width = try values.decode(Int.self, forKey: .width)
        height = try values.decode(Int.self, forKey: .height)
        time = try values.decodeIfPresent(Double.self, forKey: .time)
        isTimed = values.contains(.time)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(file, forKey: .file)
        try values.encode(url, forKey: .url)
        try values.encode(mimeType, forKey: .mimeType)
        try values.encode(bytes, forKey: .bytes)
        try values.encode(sha256, forKey: .sha256)
        try values.encodeIfPresent(sealed, forKey: .sealed)
        try values.encode(width, forKey: .width)
        try values.encode(height, forKey: .height)
        if isTimed { try values.encode(time, forKey: .time) }
    }
}

/// A picture for another system than iOS: for Android, for browsers, or of the sender.
public struct ManifestRendition: Codable, Sendable, Hashable {
    /// The file name in the result folder of the request.
    public var file: String
    /// The URL at which the file is served; null without a base URL.
    @Nullable public var url: String? = nil
    /// The MIME type: `image/jpeg` or `image/png`.
    public var type: String
    public var bytes: Int
    public var sha256: String
    /// Width in pixels.
    public var width: Int
    /// Height in pixels.
    public var height: Int

    public init(file: String, type: String, bytes: Int, sha256: String, width: Int, height: Int) {
        (self.file, self.type) = (file, type)
        (self.bytes, self.sha256) = (bytes, sha256)
        (self.width, self.height) = (width, height)
    }
}

/// A file of a result, of whichever kind.
package struct ContentFile: Sendable, Hashable {
    package let name: String
    package let mimeType: String
    package let bytes: Int
    /// Lowercase hexadecimal.
    package let sha256: String
}

extension Manifest {
    /// All files of the result, the attachment first.
    package var files: [ContentFile] {
        let images = [thumbnail, crop].compactMap(\.self).map {
            ContentFile(name: $0.file, mimeType: $0.mimeType, bytes: $0.bytes, sha256: $0.sha256)
        }
        let pictures = (renditions ?? [:]).sorted { $0.key < $1.key }.map(\.value).map {
            ContentFile(name: $0.file, mimeType: $0.type, bytes: $0.bytes, sha256: $0.sha256)
        }
        let attached = attachment.map {
            ContentFile(name: $0.file, mimeType: $0.mimeType, bytes: $0.bytes, sha256: $0.sha256)
        }
        return [attached].compactMap(\.self) + images + pictures
    }

    /// Total size of the files.
    package var filesBytes: Int { files.reduce(0) { $0.adding(clamping: $1.bytes) } }

    /// The URL of the picture that a system shows in a role; nil when there is none, as for iOS, which shows the
    /// attachment.
    public func renditionURL(for target: MediaTarget, as role: MediaTarget.Role = .image) -> String? {
        target.renditionKey(for: role).flatMap { renditions?[$0]?.url }
    }
}

/// Duration of each stage in milliseconds, summed over retries and redirects.
///
/// Stages overlap, so their sum may differ from the total.
public struct ManifestTimings: Codable, Sendable, Hashable {
    public var queue = 0.0
    public var dns = 0.0
    public var connect = 0.0
    public var tls = 0.0
    public var firstByte = 0.0
    public var transfer = 0.0
    public var identify = 0.0
    public var inspect = 0.0
    public var render = 0.0
    public var publish = 0.0
    public var total = 0.0

    public init() {}
}

/// The error of a rejected request.
public struct ManifestError: Codable, Sendable, Hashable {
    public var code: ErrorCode
    public var message: String
    public var retryable: Bool
    /// The equivalent `UNError` code; null when there is none.
    @Nullable public var appleCode: Int? = nil
    /// The status that the source's server answered with, if that is the error; left out for others.
    public var status: Int?

    public init(_ error: AttachPrepError) {
        code = error.code
        status = error.status
        message = error.message
        retryable = error.isRetryable
        appleCode = error.code.appleCode
    }
}

/// The result of processing a source.
public enum Outcome: String, Codable, Sendable, Hashable, CaseIterable {
    /// Attachable, intact and within the limit: delivered unchanged, byte for byte.
    case passed
    /// Not an attachable type: re-encoded, or its streams copied into an attachable container.
    case converted
    /// Attachable but over the limit or larger than the rendition allows: re-encoded below it.
    case shrunk
    /// Valid, but reduced because the time budget ran short.
    case bestAttempt
    /// Nothing can be delivered; `error` gives the reason.
    case rejected
}

/// The options for `UNNotificationAttachment`, under the short names of the manifest.
///
/// A client maps the names to Apple's constants (`UNNotificationAttachmentOptionsTypeHintKey` and so on).
/// They hold the requested values and apply to the attachment only.
public struct AttachmentOptions: Codable, Sendable, Hashable {
    /// The UTI of the file; iOS relies on it and does not inspect the content.
    public var typeHint: String
    /// Whether the collapsed notification hides the thumbnail; nil when not requested.
    public var thumbnailHidden: Bool?
    /// Unit rectangle, origin top-left; nil when not requested.
    public var thumbnailClippingRect: ClippingRect?
    /// Frame number or CMTime in the timeline of the attachment; nil when not requested.
    public var thumbnailTime: ThumbnailTime?

    public init(
        typeHint: String, thumbnailHidden: Bool? = nil, thumbnailClippingRect: ClippingRect? = nil,
        thumbnailTime: ThumbnailTime? = nil
    ) {
        self.typeHint = typeHint
        self.thumbnailHidden = thumbnailHidden
        self.thumbnailClippingRect = thumbnailClippingRect
        self.thumbnailTime = thumbnailTime
    }

    private enum CodingKeys: String, CodingKey {
        case typeHint, thumbnailHidden, thumbnailClippingRect, thumbnailTime
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        typeHint = try values.decode(String.self, forKey: .typeHint)
        thumbnailHidden = try values.decodeIfPresent(Bool.self, forKey: .thumbnailHidden)
        thumbnailClippingRect =
            try values.decodeIfPresent(CoreGraphicsRect.self, forKey: .thumbnailClippingRect)?.clippingRect()
        thumbnailTime = try values.decodeIfPresent(ThumbnailTime.self, forKey: .thumbnailTime)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(typeHint, forKey: .typeHint)
        try values.encode(thumbnailHidden, forKey: .thumbnailHidden)
        try values.encode(thumbnailClippingRect.map(CoreGraphicsRect.init), forKey: .thumbnailClippingRect)
        try values.encode(thumbnailTime, forKey: .thumbnailTime)
    }
}

/// A warning about an attachment that was delivered.
public struct PreparationWarning: Codable, Sendable, Hashable {
    /// A stable warning code.
    public enum Code: String, Codable, Sendable, Hashable, CaseIterable {
        /// The movie is stored rotated; some devices draw its thumbnail sideways.
        case videoRotated = "video.rotated"
        /// A movie or audio file was cut to fit its limit.
        case mediaCut = "media.cut"
        /// The source was damaged; its readable part was converted.
        case mediaRepaired = "media.repaired"
        /// A track, frames or audio of the source are missing in the result: they could not be decoded, or a
        /// notification plays only one of several.
        case mediaLost = "media.lost"
        /// An animation became a still image.
        case animationLost = "animation.lost"
        /// A movie has fewer frames than its source, because time ran short.
        case framesDropped = "frames.dropped"
        /// Every pixel of the image is transparent.
        case imageInvisible = "image.invisible"
        /// Partly transparent pixels of an animation became opaque or transparent, because a GIF has no others.
        case transparencyLost = "transparency.lost"
        /// The thumbnail time is past the end; another frame is shown.
        case timePastEnd = "time.past_end"
        /// The file was delivered unchanged, with its location metadata.
        case metadataKept = "metadata.kept"
        /// The budget allowed less than was requested.
        case deadlineDegraded = "deadline.degraded"
        /// A picture for another system than iOS is missing: the source has no image for it.
        case targetNoImage = "target.no_image"
        /// A picture for another system is missing: no file within its limit could be made.
        case targetTooLarge = "target.too_large"
        /// A picture for another system is missing: the time budget ran short.
        case targetLate = "target.late"
        /// The sender's picture is missing: its source could not be fetched or is no intact image.
        case targetAvatarFailed = "target.avatar_failed"
    }

    public let code: Code
    /// One sentence for people.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
