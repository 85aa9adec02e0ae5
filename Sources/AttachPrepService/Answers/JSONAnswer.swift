import HTTPTypes
import Hummingbird
import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Answers in JSON, written the same way everywhere: sorted keys, no escaped slashes.
enum JSONAnswer {
    static let mediaType = "application/json"

    static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    static func response(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()
    ) throws -> Response {
        var headers = headers
        headers[.contentType] = mediaType
        headers[.cacheControl] = "no-store"
        let body = ByteBuffer(bytes: try encoder().encode(value))
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
