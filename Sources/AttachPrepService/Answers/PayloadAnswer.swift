import AttachPrep
import HTTPTypes
import Hummingbird
import NIOCore

/// The answer to a payload, which goes out as it was written.
enum PayloadAnswer {
    static func response(_ result: PayloadResult) throws -> Response {
        var headers = HTTPFields()
        headers[.contentType] = JSONAnswer.mediaType
        headers[.cacheControl] = "no-store"
        let body = ByteBuffer(bytes: try result.json())
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
