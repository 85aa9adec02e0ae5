public import MediaTypes
internal import SafeArithmetic

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
    /// One sentence for the caller, shown to users; at most 2,048 bytes, without control characters.
    public let message: String
    /// The error text of a library or the system; for the log only.
    public let detail: String?
    /// Whether a retry may succeed; the default of the code unless given.
    public let isRetryable: Bool
    /// The status that the source's server answered with, if that is the error; nil for others.
    public let status: Int?
    /// The setting that mends it, with which the message begins; nil for most errors.
    public let remedy: PayloadRemedy?

    public init(
        _ code: ErrorCode, _ message: String, detail: String? = nil, isRetryable: Bool? = nil, status: Int? = nil,
        remedy: PayloadRemedy? = nil
    ) {
        self.remedy = remedy
        self.code = code
        self.status = status
        self.message = MessageText.message(message)
        self.detail = detail.map(MessageText.message)
        self.isRetryable = isRetryable ?? code.isRetryable
    }

    /// Decodes an error; a media process and a database send text from outside, too.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try values.decode(ErrorCode.self, forKey: .code), try values.decode(String.self, forKey: .message),
            detail: try values.decodeIfPresent(String.self, forKey: .detail),
            isRetryable: try values.decode(Bool.self, forKey: .isRetryable),
            status: try values.decodeIfPresent(Int.self, forKey: .status),
            remedy: try values.decodeIfPresent(PayloadRemedy.self, forKey: .remedy))
    }

    /// Code, message and, if present, detail: for the log.
    public var description: String {
        "\(code.rawValue): \(message)" + (detail.map { " [\($0)]" } ?? "")
    }
}

/// A stable error code, part of the public contract: codes may be added but are never renamed.
public enum ErrorCode: String, JSONChoice, Sendable, Hashable {
    /// The request is malformed or outside its limits.
    case requestInvalid = "request.invalid"
    /// Service: no valid token.
    case requestUnauthorized = "request.unauthorized"
    /// Service: no such job, webhook, campaign or file.
    case requestNotFound = "request.not_found"
    /// Service: conflict with the job's state or with the idempotency key.
    case requestConflict = "request.conflict"
    /// The request, batch or upload exceeds its size limit.
    case requestTooLarge = "request.too_large"
    /// Service: too many requests.
    case requestRateLimited = "request.rate_limited"
    /// The source is not a valid URL.
    case sourceInvalidURL = "source.invalid_url"
    /// The source is not http or https, or http although only https is allowed.
    case sourceSchemeNotAllowed = "source.scheme_not_allowed"
    /// The host resolves to a private, loopback or reserved address.
    case sourceAddressBlocked = "source.address_blocked"
    /// The source on this machine is a folder, a device or a pipe.
    case sourceNotFile = "source.not_a_file"
    /// Status 404 or 410, or a missing file.
    case sourceNotFound = "source.not_found"
    /// The host name does not resolve.
    case downloadDNS = "download.dns"
    /// The server does not answer.
    case downloadConnect = "download.connect"
    /// Invalid certificate or failed handshake.
    case downloadTLS = "download.tls"
    /// Any other status that is not 2xx.
    case downloadHTTPStatus = "download.http_status"
    /// Unsupported coding: `br`, `zstd`, several content codings, a transfer coding other than `chunked`.
    case downloadContentCoding = "download.content_coding"
    /// More than five redirects.
    case downloadTooManyRedirects = "download.too_many_redirects"
    /// Timeout while connecting, before the first byte, or during the transfer.
    case downloadTimeout = "download.timeout"
    /// Fewer bytes than the server announced.
    case downloadTruncated = "download.truncated"
    /// Larger than a source may be for conversion.
    case downloadTooLarge = "download.too_large"
    /// The file is empty.
    case mediaEmpty = "media.empty"
    /// Not media: a web page, a playlist, JSON, an archive.
    case mediaUnrecognized = "media.unrecognized"
    /// A known media type that cannot be prepared.
    case mediaUnsupported = "media.unsupported"
    /// Truncated or broken.
    case mediaCorrupt = "media.corrupt"
    /// Protected by DRM.
    case mediaEncrypted = "media.encrypted"
    /// More pixels than are decoded.
    case mediaTooManyPixels = "media.too_many_pixels"
    /// More frames than are decoded.
    case mediaTooManyFrames = "media.too_many_frames"
    /// Longer than what is decoded.
    case mediaTooLong = "media.too_long"
    /// Decoding took more processor time than a file of its size may take.
    case mediaTooComplex = "media.too_complex"
    /// The file ended its media process twice; `attachprep quarantine lift` allows it again.
    case mediaQuarantined = "media.quarantined"
    /// The media process crashed on this file.
    case mediaDecoderCrashed = "media.decoder_crashed"
    /// Over Apple's limit or the request's own, and cannot or must not be shrunk.
    case limitExceeded = "limit.exceeded"
    /// An invalid crop.
    case optionsInvalidClippingRect = "options.invalid_clipping_rect"
    /// An invalid thumbnail time.
    case optionsInvalidTime = "options.invalid_time"
    /// An invalid thumbnail size.
    case optionsInvalidSize = "options.invalid_size"
    /// The time budget has ended.
    case deadlineExceeded = "deadline.exceeded"
    /// The job's `notAfter` passed before or during processing; submit it with a later one.
    case deadlineNotAfter = "deadline.not_after"
    /// The output folder is not writable.
    case outputNotWritable = "output.not_writable"
    /// The disk is full.
    case outputNoSpace = "output.no_space"
    /// The bucket's endpoint rejected the key, secret, token or clock.
    case publishDenied = "publish.denied"
    /// The bucket does not exist or is in another region.
    case publishNotFound = "publish.not_found"
    /// The endpoint does not answer or is overloaded.
    case publishUnavailable = "publish.unavailable"
    /// The endpoint rejected this file or its upload, and takes others.
    case publishRejected = "publish.rejected"
    /// No media was found in the payload.
    case payloadNoMedia = "payload.no_media"
    /// More than 64 KiB, or more than 4,096 bytes after optional parts were removed.
    case payloadTooLarge = "payload.too_large"
    /// The payload is not valid or ambiguous JSON; the message has line and column.
    case payloadInvalid = "payload.invalid"
    /// Service: too many event streams.
    case eventsFull = "events.full"
    /// Service: too many queued jobs or connections.
    case queueFull = "queue.full"
    /// Service: the queue is unavailable or the service is shutting down.
    case queueUnavailable = "queue.unavailable"
    /// Ten workers were lost (killed, crashed or frozen) while they processed this job.
    case jobWorkerLost = "job.worker_lost"
    /// A sandbox is required and this machine lacks a layer of it.
    case sandboxUnavailable = "sandbox.unavailable"
    /// Interrupted, or cancelled by its caller.
    case cancelled
    /// An error in attachprep; please report it.
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
        case .sourceNotFile: Row(422, apple: 100)
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
        case .mediaTooComplex: Row(422)
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
        case .publishRejected: Row(502)
        case .payloadNoMedia: Row(422)
        case .payloadTooLarge: Row(422)
        case .payloadInvalid: Row(422)
        case .eventsFull: Row(503, retryable: true)
        case .queueFull: Row(503, retryable: true)
        case .queueUnavailable: Row(503, retryable: true)
        case .jobWorkerLost: Row(500)
        case .sandboxUnavailable: Row(503)
        case .cancelled: Row(409)
        case .internal: Row(500, retryable: true)
        }
    }
}

extension AttachPrepError {
    /// The error under the same code.
    public init(_ error: PayloadError) {
        self.init(ErrorCode(rawValue: error.code.rawValue) ?? .internal, error.message, remedy: error.remedy)
    }

    /// The error `options.invalid_clipping_rect`.
    public init(_ error: ClippingRectError) {
        self.init(.optionsInvalidClippingRect, error.message)
    }

    /// Calls `body` and converts payload and clipping-rectangle errors to `AttachPrepError`.
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
