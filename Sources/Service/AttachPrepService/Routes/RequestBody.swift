import AttachPrep
import AttachPrepModel
import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import MediaTypes
import NIOCore
import SafeArithmetic

/// A request's body, limited to `bytesMax`.
struct BoundedRequestBody {
    let request: Request
    let context: ServiceContext
    let bytesMax: Int
    /// The `Content-Length`; `Int.max` for a number that exceeds 64 bits, nil without one.
    let declaredBytes: Int?

    /// Checks the headers before any of the body is read.
    ///
    /// - Throws: `request.too_large` for a `Content-Length` over the limit, a problem with status 415 for a body with
    ///   a content coding.
    init(_ request: Request, _ context: ServiceContext, max bytesMax: Int) throws {
        (self.request, self.context, self.bytesMax) = (request, context, bytesMax)
        declaredBytes = request.headers[.contentLength].flatMap(Self.number)
        if let declaredBytes, declaredBytes > bytesMax { throw Self.tooLarge(bytesMax) }
        if let coding = request.headers[.contentEncoding], coding.lowercased() != "identity" {
            throw Problem(.requestInvalid, "Content-Encoding is not supported; send an uncompressed body.", status: 415)
        }
    }

    /// Nil for anything but digits.
    private static func number(_ text: String) -> Int? {
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        return isNumber ? Int(text) ?? .max : nil
    }

    static func tooLarge(_ bytesMax: Int) -> AttachPrepError {
        AttachPrepError(.requestTooLarge, "The request's body exceeds \(bytesMax) bytes; send less at a time.")
    }

    /// The media type of the body, in lowercase and without parameters.
    var mediaType: String? {
        request.headers[.contentType]?.prefix { $0 != ";" }.trimmingSpaces.lowercased()
    }

    /// - Throws: A problem with status 415 for a body of another type.
    func requireJSON() throws {
        guard mediaType == JSONResponse.mediaType else {
            throw Self.wrongType(mediaType, "JSON, with Content-Type: application/json")
        }
    }

    /// The problem for a body of another type, with the likely cause.
    static func wrongType(_ mediaType: String?, _ expected: String) -> Problem {
        let sent = mediaType.map { "not \"\(MessageText.excerpt($0, bytesMax: 80))\"" } ?? "not without a Content-Type"
        let isForm = mediaType == "application/x-www-form-urlencoded"
        let cause = isForm ? " curl sends that type unless it gets -H 'Content-Type: application/json'." : ""
        return Problem(.requestInvalid, "The body must be \(expected), \(sent).\(cause)", status: 415)
    }

    /// The body as a stream of buffers; sends `100 Continue` if the client waits for it.
    func pieces() -> RequestBody {
        context.channel.triggerUserOutboundEvent(BodyReadEvent(), promise: nil)
        return request.body
    }

    /// The whole body.
    ///
    /// - Throws: `request.too_large`.
    func all() async throws -> [UInt8] {
        do {
            return Array(buffer: try await pieces().collect(upTo: bytesMax))
        } catch is NIOTooManyBytesError {
            throw Self.tooLarge(bytesMax)
        }
    }
}

/// A request's body that is a JSON object with a fixed set of keys.
protocol JSONRequest: Decodable {
    static var keys: Set<String> { get }
}

enum JSONBody {
    /// Reads and decodes a request's body.
    ///
    /// - Throws: `request.invalid`, `request.too_large`, or a problem with status 415 for another media type.
    static func read<Body: JSONRequest>(
        _ request: Request, _ context: ServiceContext, bytesMax: Int = Limits.requestBytesMax
    ) async throws -> Body {
        let body = try BoundedRequestBody(request, context, max: bytesMax)
        try body.requireJSON()
        let bytes = try await body.all()
        do {
            return try ForeignJSON.decode(CheckedBody<Body>.self, from: bytes).body
        } catch let error as DecodingError {
            throw JSONDiagnosis(of: "The body").error(error, in: bytes)
        }
    }
}

/// A body whose keys were all known.
private struct CheckedBody<Body: JSONRequest>: Decodable {
    let body: Body

    init(from decoder: any Decoder) throws {
        try decoder.rejectUnknownKeys(of: "The body", except: Body.keys.sorted())
        body = try Body(from: decoder)
    }
}

/// JSON responses, with sorted keys and unescaped slashes.
enum JSONResponse {
    static let mediaType = "application/json"

    static func response(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) throws -> Response {
        response(bytes: try JSONEncoder.singleLine.encode(value), status: status, headers: headers)
    }

    static func response(
        bytes: some Sequence<UInt8>, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) -> Response {
        var headers = headers
        headers[.contentType] = mediaType
        headers[.cacheControl] = "no-store"
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Limits {
    /// Bytes of a batch: one request may have 64 KB; ten thousand typical ones of 1 KB are 10 MB.
    static let batchBytesMax = 16_000_000
}

/// An outbound event sent before a request's body is read: the client may wait for `100 Continue` (RFC 9110, 10.1.1).
struct BodyReadEvent: Sendable {}
