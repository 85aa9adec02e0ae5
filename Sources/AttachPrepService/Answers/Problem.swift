import HTTPTypes
import Hummingbird
import NIOCore
import RichPush
import SafeArithmetic

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What went wrong, as RFC 9457 has it: `application/problem+json`.
struct Problem: Error, Sendable {
    /// One bad line of a batch.
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
    /// Names the request it came of.
    var instance: String?
    /// Beside what each problem has.
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

    /// Constant for a code.
    static func type(of code: ErrorCode) -> String { "urn:attachprep:problem:\(code.rawValue)" }

    /// The same, with when to come back.
    func retrying(after seconds: Double) -> Problem {
        var problem = self
        problem.fields[.retryAfter] = "\(max(1, Int(clamping: seconds.rounded(.up))))"
        return problem
    }

    var body: ByteBuffer {
        ByteBuffer(bytes: (try? JSONAnswer.encoder().encode(self)) ?? Data("{}".utf8))
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
