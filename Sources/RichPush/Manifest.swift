/// The result of one request: what the source was, what became of it, and how to attach it.
///
/// Every key is always present, null where there is nothing to say. Milliseconds for timings, seconds for durations and
/// times, pixels as displayed, decimal bytes.
public struct Manifest: Codable, Sendable, Hashable {
    /// The version of this shape.
    public static let currentSchema = 1

    public var schema = Manifest.currentSchema
    /// The caller's, else derived from source and options.
    public var id: String
    /// Changes with anything that would change the result; `--resume` compares it.
    public var requestDigest: String
    public var outcome: Outcome
    /// Sentences for people, not for programs.
    public var reasons: [String]
    public var source: ManifestSource
    public var attachment: ManifestFile?
    public var thumbnail: ManifestPicture?
    public var crop: ManifestPicture?
    public var options: AttachmentOptions?
    /// Expected fetch time of the attachment in seconds, by network.
    public var deviceFetch: [String: Double]?
    public var timings: ManifestTimings
    public var warnings: [PreparationWarning]
    public var error: ManifestError?

    public init(id: String, requestDigest: String, outcome: Outcome, source: ManifestSource) {
        self.id = id
        self.requestDigest = requestDigest
        self.outcome = outcome
        reasons = []
        self.source = source
        timings = ManifestTimings()
        warnings = []
    }

    private enum CodingKeys: String, CodingKey {
        case schema, id, requestDigest, outcome, reasons, source, attachment, thumbnail, crop, options, deviceFetch
        case timings, warnings, error
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(schema, forKey: .schema)
        try values.encode(id, forKey: .id)
        try values.encode(requestDigest, forKey: .requestDigest)
        try values.encode(outcome, forKey: .outcome)
        try values.encode(reasons, forKey: .reasons)
        try values.encode(source, forKey: .source)
        try values.encode(attachment, forKey: .attachment)
        try values.encode(thumbnail, forKey: .thumbnail)
        try values.encode(crop, forKey: .crop)
        try values.encode(options, forKey: .options)
        try values.encode(deviceFetch, forKey: .deviceFetch)
        try values.encode(timings, forKey: .timings)
        try values.encode(warnings, forKey: .warnings)
        try values.encode(error, forKey: .error)
    }
}

/// What was fetched, and what the server claimed.
public struct ManifestSource: Codable, Sendable, Hashable {
    /// As asked for; user info removed, signing query values replaced by REDACTED.
    public var url: String
    /// After redirects.
    public var finalURL: String?
    /// The server's word.
    public var declaredMIMEType: String?
    /// The content's word.
    public var mimeType: String?
    public var bytes: Int?
    /// Lower-case hexadecimal.
    public var sha256: String?

    public init(url: String) {
        self.url = url
    }

    private enum CodingKeys: String, CodingKey {
        case url, finalURL, declaredMIMEType, mimeType, bytes, sha256
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(url, forKey: .url)
        try values.encode(finalURL, forKey: .finalURL)
        try values.encode(declaredMIMEType, forKey: .declaredMIMEType)
        try values.encode(mimeType, forKey: .mimeType)
        try values.encode(bytes, forKey: .bytes)
        try values.encode(sha256, forKey: .sha256)
    }
}

/// The attachment: the file to hand to `UNNotificationAttachment`.
public struct ManifestFile: Codable, Sendable, Hashable {
    /// The name inside the request's folder.
    public var file: String
    /// Where it is served; null without a base URL.
    public var url: String?
    public var kind: MediaKind
    public var uti: String
    public var mimeType: String
    public var bytes: Int
    public var sha256: String
    /// Pixels as displayed; null for sound.
    public var width: Int?
    public var height: Int?
    /// Pictures of an image (1 for a still); null for sound and movies.
    public var frames: Int?
    /// Seconds; null for a still.
    public var duration: Double?

    public init(file: String, type: AttachmentType, bytes: Int, sha256: String) {
        self.file = file
        kind = type.kind
        uti = type.uti
        mimeType = type.mimeType
        self.bytes = bytes
        self.sha256 = sha256
    }

    private enum CodingKeys: String, CodingKey {
        case file, url, kind, uti, mimeType, bytes, sha256, width, height, frames, duration
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(file, forKey: .file)
        try values.encode(url, forKey: .url)
        try values.encode(kind, forKey: .kind)
        try values.encode(uti, forKey: .uti)
        try values.encode(mimeType, forKey: .mimeType)
        try values.encode(bytes, forKey: .bytes)
        try values.encode(sha256, forKey: .sha256)
        try values.encode(width, forKey: .width)
        try values.encode(height, forKey: .height)
        try values.encode(frames, forKey: .frames)
        try values.encode(duration, forKey: .duration)
    }
}

/// A picture beside the attachment: the thumbnail (which has a time) or the crop (which has none).
public struct ManifestPicture: Codable, Sendable, Hashable {
    public var file: String
    public var url: String?
    public var mimeType: String
    public var bytes: Int
    public var sha256: String
    public var width: Int
    public var height: Int
    /// What the picture shows of a moving source: seconds of a movie, frame number of an animation, else nil.
    public var time: Double?
    /// A crop's manifest has no `time` key.
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
        case file, url, mimeType, bytes, sha256, width, height, time
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        file = try values.decode(String.self, forKey: .file)
        url = try values.decodeIfPresent(String.self, forKey: .url)
        mimeType = try values.decode(String.self, forKey: .mimeType)
        bytes = try values.decode(Int.self, forKey: .bytes)
        sha256 = try values.decode(String.self, forKey: .sha256)
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
        try values.encode(width, forKey: .width)
        try values.encode(height, forKey: .height)
        if isTimed { try values.encode(time, forKey: .time) }
    }
}

/// How long each stage took, in milliseconds; retries and redirect hops summed.
///
/// Stages overlap, so they need not add up to the total.
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

/// Why a request was rejected.
public struct ManifestError: Codable, Sendable, Hashable {
    public var code: ErrorCode
    public var message: String
    public var retryable: Bool
    /// Apple's `UNError` number, where one fits.
    public var appleCode: Int?

    public init(_ error: AttachPrepError) {
        code = error.code
        message = error.message
        retryable = error.isRetryable
        appleCode = error.code.appleCode
    }

    private enum CodingKeys: String, CodingKey {
        case code, message, retryable, appleCode
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(code, forKey: .code)
        try values.encode(message, forKey: .message)
        try values.encode(retryable, forKey: .retryable)
        try values.encode(appleCode, forKey: .appleCode)
    }
}
