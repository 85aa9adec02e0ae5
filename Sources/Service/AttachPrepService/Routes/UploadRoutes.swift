import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Crypto
import HTTPTypes
import Hummingbird
import HummingbirdCore
import MediaTypes
import NIOCore
import NIOPosix
import SafeArithmetic

/// `POST /v1/uploads`: stores a file, which jobs can name as their source.
struct UploadRoutes: Sendable {
    let store: any UploadStore

    var endpoints: [Endpoint] {
        [Endpoint(method: .post, path: "/v1/uploads", roles: [.submit], respond: receive)]
    }

    @Sendable private func receive(_ request: Request, in context: ServiceContext) async throws -> Response {
        let body = try BoundedRequestBody(request, context, max: Limits.sourceBytesMax)
        if body.mediaType?.hasPrefix("multipart/") == true {
            throw Problem(
                .requestInvalid, "multipart bodies are not supported; send the file's bytes as the body.",
                status: 415)
        }
        let pending = try await store.beginUpload(bytes: body.declaredBytes ?? 0, by: context.token)
        do {
            let file = try await UploadFile(path: pending.path)
            try await file.write(body) { try await store.reserve($0, for: pending) }
            let upload = try await store.store(pending, bytes: file.bytes, sha256: file.sha256)
            return try JSONResponse.response(UploadResponse(upload), status: .created)
        } catch {
            await store.discard(pending)
            throw error
        }
    }
}

struct UploadResponse: Encodable {
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

/// Writes and hashes an upload while it is received; blocking writes run on NIO's thread pool.
final class UploadFile {
    private(set) var bytes = 0
    private var hash = SHA256()
    private let handle: AsyncFile

    init(path: String) async throws {
        do {
            handle = try await AsyncFile(path, .write)
        } catch {
            throw AttachPrepError(.outputNotWritable, "The upload cannot be written to disk.", detail: "\(error)")
        }
    }

    /// The SHA-256 of the bytes written, in lowercase hexadecimal.
    var sha256: String { hash.finalize().hexadecimal }

    /// Bytes reserved at a time for an upload of unknown length.
    private static let reservedBytes = 8_000_000

    /// Writes the whole body.
    ///
    /// - Parameter reserve: called with a number of bytes before the body exceeds what is reserved for it.
    /// - Throws: `request.too_large`, `request.invalid` for an incomplete body, `media.empty`, and
    ///   `output.no_space` or `output.not_writable`.
    func write(_ body: BoundedRequestBody, reserve: (Int) async throws -> Void) async throws {
        var reserved = body.declaredBytes ?? 0
        for try await piece in body.pieces() {
            bytes = bytes.adding(clamping: piece.readableBytes)
            guard bytes <= body.bytesMax else { throw BoundedRequestBody.tooLarge(body.bytesMax) }
            if bytes > reserved {
                reserved = min(bytes.adding(clamping: Self.reservedBytes), body.bytesMax)
                try await reserve(reserved)
            }
            unsafe piece.withUnsafeReadableBytes { unsafe hash.update(bufferPointer: $0) }
            try await handle.write(piece)
        }
        if let declared = body.declaredBytes, declared != bytes {
            throw AttachPrepError(.requestInvalid, "The body ended after \(bytes) of \(declared) bytes; send it again.")
        }
        guard bytes > 0 else { throw AttachPrepError(.mediaEmpty, "The upload is empty.") }
    }
}
