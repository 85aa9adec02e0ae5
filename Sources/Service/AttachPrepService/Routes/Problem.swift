import AttachPrep
import AttachPrepModel
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import MediaTypes
import NIOCore
import NIOHTTP1
import SafeArithmetic

/// An error response as `application/problem+json` (RFC 9457).
struct Problem: Error, Sendable {
    struct Line: Encodable, Sendable {
        /// From 1.
        var line: Int
        var code: ErrorCode
        var detail: String
    }

    var status: Int
    var code: ErrorCode
    var detail: String
    var isRetryable: Bool
    var lines: [Line]?
    /// The URN of the request.
    var instance: String?
    var fields = HTTPFields()

    init(_ error: AttachPrepError, status: Int? = nil) {
        self.status = status ?? error.code.httpStatus
        code = error.code
        detail = error.message
        isRetryable = error.isRetryable
    }

    init(_ code: ErrorCode, _ detail: String, status: Int? = nil) {
        self.init(AttachPrepError(code, detail), status: status)
    }

    static let mediaType = "application/problem+json"

    /// The `type` URN, constant for a code.
    static func type(of code: ErrorCode) -> String { "urn:attachprep:problem:\(code.rawValue)" }

    /// The problem with a `Retry-After` header, in whole seconds, at least 1.
    func retrying(after seconds: Double) -> Problem {
        var problem = self
        problem.fields[.retryAfter] = "\(max(1, Int(clamping: seconds.rounded(.up))))"
        return problem
    }

    var body: ByteBuffer {
        ByteBuffer(bytes: (try? JSONEncoder.singleLine.encode(self)) ?? Data("{}".utf8))
    }

    var response: Response {
        var headers = fields
        headers[.contentType] = Self.mediaType
        headers[.cacheControl] = "no-store"
        return Response(
            status: .init(code: status), headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

extension Problem: Encodable {
    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance, code, retryable, appleCode, errors
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.type(of: code), forKey: .type)
        try values.encode(code.title, forKey: .title)
        try values.encode(status, forKey: .status)
        try values.encode(detail, forKey: .detail)
        try values.encodeIfPresent(instance, forKey: .instance)
        try values.encode(code, forKey: .code)
        try values.encode(isRetryable, forKey: .retryable)
        try values.encodeIfPresent(code.appleCode, forKey: .appleCode)
        try values.encodeIfPresent(lines, forKey: .errors)
    }
}

extension ErrorCode {
    /// The `title` of a problem, constant for a code.
    var title: String {
        switch self {
        case .requestInvalid: "Invalid request"
        case .requestUnauthorized: "Unauthorized"
        case .requestNotFound: "Not found"
        case .requestConflict: "Conflict with the current state"
        case .requestTooLarge: "Request too large"
        case .requestRateLimited: "Too many requests"
        case .cancelled: "Job cancelled"
        case .internal: "Internal error"
        case .limitExceeded: "Attachment over its size limit"
        case .deadlineExceeded: "Time budget exceeded"
        case .deadlineNotAfter: "The job's notAfter has passed"
        case .sandboxUnavailable: "Decoder sandbox unavailable"
        case .sourceInvalidURL: "Invalid source URL"
        case .sourceSchemeNotAllowed: "Source URL scheme not allowed"
        case .sourceAddressBlocked: "Source address not allowed"
        case .sourceNotFile: "Source is not a file"
        case .sourceNotFound: "Source not found"
        case .downloadDNS: "Host name of the source not resolved"
        case .downloadConnect: "Connection to the source failed"
        case .downloadTLS: "TLS connection to the source failed"
        case .downloadHTTPStatus: "Source answered with an HTTP error status"
        case .downloadContentCoding: "Content coding of the source not supported"
        case .downloadTooManyRedirects: "Too many redirects"
        case .downloadTimeout: "Download timed out"
        case .downloadTruncated: "Download incomplete"
        case .downloadTooLarge: "Source too large"
        case .mediaEmpty: "Source is empty"
        case .mediaUnrecognized: "Source is not media"
        case .mediaUnsupported: "Media format not supported"
        case .mediaCorrupt: "Media file damaged"
        case .mediaEncrypted: "Media file encrypted"
        case .mediaTooManyPixels: "Too many pixels"
        case .mediaTooManyFrames: "Too many frames"
        case .mediaTooLong: "Duration too long"
        case .mediaTooComplex: "Media too complex"
        case .mediaQuarantined: "Source in quarantine"
        case .mediaDecoderCrashed: "Decoder crashed"
        case .optionsInvalidClippingRect: "Invalid clipping rectangle"
        case .optionsInvalidTime: "Invalid thumbnail time"
        case .optionsInvalidSize: "Invalid thumbnail size"
        case .outputNotWritable: "Output not writable"
        case .outputNoSpace: "No space left for the output"
        case .publishDenied: "Publishing denied"
        case .publishNotFound: "Publish target not found"
        case .publishUnavailable: "Publish target unavailable"
        case .publishRejected: "File rejected by the publish target"
        case .payloadNoMedia: "No media in the payload"
        case .payloadTooLarge: "Payload too large"
        case .payloadInvalid: "Invalid payload"
        case .eventsFull: "Too many event streams"
        case .queueFull: "Queue full"
        case .queueUnavailable: "Queue unavailable"
        case .jobWorkerLost: "Job lost its workers"
        }
    }
}

/// Converts each error into a problem; details that callers must not see go to the log.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = ServiceContext

    let endpoints: [Endpoint]

    func handle(
        _ request: Request, context: ServiceContext,
        next: @concurrent (Request, ServiceContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            var problem = problem(of: error, request: request, context: context)
            problem.instance = "urn:attachprep:request:\(context.requestID)"
            var response = problem.response
            if request.method == .head { response = response.createHeadResponse() }
            return response
        }
    }

    private func problem(of error: any Error, request: Request, context: ServiceContext) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as AttachPrepError: return problem(for: error, context: context)
        case let error as HTTPError where error.status == .notFound: return unknownPath(request)
        case is HTTPParserError:
            return Problem(.requestInvalid, "The request's body is incomplete or its HTTP/1.1 framing is invalid.")
        case is ChannelError, is CancellationError:
            return Problem(.requestInvalid, "The connection closed before the request was complete.")
        default:
            context.logger.error("request failed", metadata: ["error": "\(error)"])
            return Problem(.internal, "Internal error; see the service's log for this request's id.")
        }
    }

    private func problem(for error: AttachPrepError, context: ServiceContext) -> Problem {
        if error.code.httpStatus >= 500 {
            context.logger.error("request failed", metadata: ["error": "\(error)"])
        } else if let detail = error.detail {
            context.logger.info(
                "request rejected", metadata: ["error": "\(error.code.rawValue)", "detail": "\(detail)"])
        }
        let problem = Problem(error)
        return switch error.code {
        case .queueFull: problem.retrying(after: 5)
        case .queueUnavailable, .outputNoSpace: problem.retrying(after: 10)
        default: problem
        }
    }

    private func unknownPath(_ request: Request) -> Problem {
        guard let allowed = endpoints.allowed(at: request.uri.path) else {
            return Problem(.requestNotFound, "Unknown path; see /openapi.json.")
        }
        var problem = Problem(
            .requestInvalid,
            "Method \(MessageText.excerpt(request.method.rawValue, bytesMax: 20)) is not allowed for this path; "
                + "allowed: \(allowed).",
            status: 405)
        problem.fields[.allow] = allowed
        return problem
    }
}
