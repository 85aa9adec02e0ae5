import AttachPrep
import AttachPrepPages
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore

/// A file of the page as it is answered: looked after each time, and sent when it is another one.
struct PageFile: Sendable {
    let name: String
    private let tag: EntityTag
    private let mediaType: String
    private let content: ByteBuffer

    init(_ asset: PageAsset) {
        name = asset.name
        tag = EntityTag(sha256: SHA256.hash(data: asset.bytes).hexadecimal)
        mediaType = asset.mediaType
        content = ByteBuffer(bytes: asset.bytes)
    }

    func response(to request: Request, _ policy: PagePolicy) -> Response {
        var headers = policy.headers(for: request)
        headers[.eTag] = tag.text
        headers[.cacheControl] = "no-cache"
        if tag.isKnown(to: request) { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = mediaType
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: content))
    }
}
