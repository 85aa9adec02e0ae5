import AttachPrep
import AttachPrepJobs
import Crypto
import Hummingbird
import NIOCore
import RichPush

/// `POST /v1/uploads`: a file, to be named as a source.
struct UploadRoutes: Sendable {
    let store: any UploadStore

    var endpoints: [Endpoint] {
        [Endpoint(method: .post, path: "/v1/uploads", respond: take)]
    }

    @Sendable private func take(_ request: Request, _ context: ServiceContext) async throws -> Response {
        let body = try RequestBytes(request, context, max: Limits.sourceBytesMax)
        if body.mediaType?.hasPrefix("multipart/") == true {
            throw Problem(
                .requestInvalid, "Send the file's bytes as the body, not a form.",
                status: 415)
        }
        let place = try await store.beginUpload()
        do {
            let file = try await UploadFile(path: place.path)
            try await file.write(body)
            let upload = try await store.keep(place, bytes: file.bytes, sha256: file.sha256)
            return try JSONAnswer.response(UploadAnswer(upload), status: .created)
        } catch {
            await store.discard(place)
            throw error
        }
    }
}

/// An upload as its sender is told of it.
struct UploadAnswer: Encodable {
    var source: String
    var bytes: Int
    var sha256: String
    var expiresAt: String

    init(_ upload: Upload) {
        source = "\(Upload.scheme)\(upload.id)"
        bytes = upload.bytes
        sha256 = upload.sha256
        expiresAt = Timestamp.text(upload.expiresAt)
    }
}
