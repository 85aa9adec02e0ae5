public import RichPush

/// The error of every public API: a stable code, a message for the caller, and a private detail for the log.
///
/// The message gives what failed, the value and the limit, and what to do; it has no library text and no local path.
///
/// ```swift
/// throw AttachPrepError(
///     .limitExceeded, "The image is 12,400,000 bytes, over Apple's 10,000,000; drop --oversize reject to shrink it.")
/// ```
public struct AttachPrepError: Error, Codable, Sendable, Hashable, CustomStringConvertible {
    /// The stable code.
    public let code: ErrorCode
    /// One sentence for the caller, shown to users.
    public let message: String
    /// The error text of a library or the system; for the log only.
    public let detail: String?
    /// Whether a retry may succeed; the default of the code unless given.
    public let isRetryable: Bool

    public init(_ code: ErrorCode, _ message: String, detail: String? = nil, isRetryable: Bool? = nil) {
        self.code = code
        self.message = message
        self.detail = detail
        self.isRetryable = isRetryable ?? code.isRetryable
    }

    /// Code, message and, if present, detail: for the log.
    public var description: String {
        "\(code.rawValue): \(message)" + (detail.map { " [\($0)]" } ?? "")
    }
}

/// A stable error code, part of the public contract: codes may be added but are never renamed.
public enum ErrorCode: String, Codable, Sendable, Hashable, CaseIterable {
    case requestInvalid = "request.invalid"
    case requestUnauthorized = "request.unauthorized"
    case requestNotFound = "request.not_found"
    case requestConflict = "request.conflict"
    case requestTooLarge = "request.too_large"
    case requestRateLimited = "request.rate_limited"
    case sourceInvalidURL = "source.invalid_url"
    case sourceSchemeNotAllowed = "source.scheme_not_allowed"
    case sourceAddressBlocked = "source.address_blocked"
    case sourceNotFound = "source.not_found"
    case downloadDNS = "download.dns"
    case downloadConnect = "download.connect"
    case downloadTLS = "download.tls"
    case downloadHTTPStatus = "download.http_status"
    case downloadContentCoding = "download.content_coding"
    case downloadTooManyRedirects = "download.too_many_redirects"
    case downloadTimeout = "download.timeout"
    case downloadTruncated = "download.truncated"
    case downloadTooLarge = "download.too_large"
    case mediaEmpty = "media.empty"
    case mediaUnrecognized = "media.unrecognized"
    case mediaUnsupported = "media.unsupported"
    case mediaCorrupt = "media.corrupt"
    case mediaEncrypted = "media.encrypted"
    case mediaTooManyPixels = "media.too_many_pixels"
    case mediaTooManyFrames = "media.too_many_frames"
    case mediaTooLong = "media.too_long"
    case mediaQuarantined = "media.quarantined"
    case mediaDecoderCrashed = "media.decoder_crashed"
    case limitExceeded = "limit.exceeded"
    case optionsInvalidClippingRect = "options.invalid_clipping_rect"
    case optionsInvalidTime = "options.invalid_time"
    case optionsInvalidSize = "options.invalid_size"
    case deadlineExceeded = "deadline.exceeded"
    case deadlineNotAfter = "deadline.not_after"
    case outputNotWritable = "output.not_writable"
    case outputNoSpace = "output.no_space"
    case publishDenied = "publish.denied"
    case publishNotFound = "publish.not_found"
    case publishUnavailable = "publish.unavailable"
    case payloadNoMedia = "payload.no_media"
    case payloadTooLarge = "payload.too_large"
    case payloadInvalid = "payload.invalid"
    case eventsFull = "events.full"
    case queueFull = "queue.full"
    case queueUnavailable = "queue.unavailable"
    case jobCrashedService = "job.crashed_service"
    case sandboxUnavailable = "sandbox.unavailable"
    case cancelled
    case `internal`

    /// Whether the same request may succeed later, unchanged.
    public var isRetryable: Bool { row.isRetryable }

    /// The `UNError` code that a device reports for the same error; nil when there is no equivalent.
    public var appleCode: Int? { row.appleCode }

    /// The HTTP status of responses with this code.
    public var httpStatus: Int { row.httpStatus }

    private struct Row {
        let isRetryable: Bool
        let appleCode: Int?
        let httpStatus: Int

        init(_ httpStatus: Int, apple appleCode: Int? = nil, retryable isRetryable: Bool = false) {
            self.isRetryable = isRetryable
            self.appleCode = appleCode
            self.httpStatus = httpStatus
        }
    }

    /// `UNError` codes: 100 invalid URL, 101 unrecognized type, 102 invalid size, 105 corrupt.
    private var row: Row {
        switch self {
        case .requestInvalid: Row(400)
        case .requestUnauthorized: Row(401)
        case .requestNotFound: Row(404)
        case .requestConflict: Row(409)
        case .requestTooLarge: Row(413)
        case .requestRateLimited: Row(429, retryable: true)
        case .sourceInvalidURL: Row(422, apple: 100)
        case .sourceSchemeNotAllowed: Row(422, apple: 100)
        case .sourceAddressBlocked: Row(422, apple: 100)
        case .sourceNotFound: Row(422, apple: 100)
        case .downloadDNS: Row(502, retryable: true)
        case .downloadConnect: Row(502, retryable: true)
        case .downloadTLS: Row(502)
        case .downloadHTTPStatus: Row(502, retryable: true)
        case .downloadContentCoding: Row(502)
        case .downloadTooManyRedirects: Row(502)
        case .downloadTimeout: Row(504, retryable: true)
        case .downloadTruncated: Row(502, retryable: true)
        case .downloadTooLarge: Row(422, apple: 102)
        case .mediaEmpty: Row(422, apple: 105)
        case .mediaUnrecognized: Row(422, apple: 101)
        case .mediaUnsupported: Row(422, apple: 101)
        case .mediaCorrupt: Row(422, apple: 105)
        case .mediaEncrypted: Row(422, apple: 105)
        case .mediaTooManyPixels: Row(422)
        case .mediaTooManyFrames: Row(422)
        case .mediaTooLong: Row(422)
        case .mediaQuarantined: Row(422)
        case .mediaDecoderCrashed: Row(500, retryable: true)
        case .limitExceeded: Row(422, apple: 102)
        case .optionsInvalidClippingRect: Row(422)
        case .optionsInvalidTime: Row(422)
        case .optionsInvalidSize: Row(422)
        case .deadlineExceeded: Row(504, retryable: true)
        case .deadlineNotAfter: Row(422)
        case .outputNotWritable: Row(500)
        case .outputNoSpace: Row(507, retryable: true)
        case .publishDenied: Row(502)
        case .publishNotFound: Row(502)
        case .publishUnavailable: Row(503, retryable: true)
        case .payloadNoMedia: Row(422)
        case .payloadTooLarge: Row(422)
        case .payloadInvalid: Row(422)
        case .eventsFull: Row(503, retryable: true)
        case .queueFull: Row(503, retryable: true)
        case .queueUnavailable: Row(503, retryable: true)
        case .jobCrashedService: Row(500)
        case .sandboxUnavailable: Row(503)
        case .cancelled: Row(409)
        case .internal: Row(500, retryable: true)
        }
    }
}

extension AttachPrepError {
    /// The error under the same code.
    public init(_ error: PayloadError) {
        self.init(ErrorCode(rawValue: error.code.rawValue) ?? .internal, error.message)
    }

    /// The error `options.invalid_clipping_rect`.
    public init(_ error: ClippingRectError) {
        self.init(.optionsInvalidClippingRect, error.message)
    }

    /// Runs work on payloads or rectangles and throws its errors as `AttachPrepError`.
    public static func converting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as PayloadError {
            throw AttachPrepError(error)
        } catch let error as ClippingRectError {
            throw AttachPrepError(error)
        }
    }
}
