import AttachPrepModel
import Crypto
import Glibc
import Linux
package import Logging
import MediaTypes
import SafeArithmetic

/// The objects of callers' uploads in the bucket of results: `prefix/_uploads/<id>`.
///
/// They are removed when no job needs them; a lifecycle rule of some weeks for the prefix removes what a crash leaves.
package struct UploadBucket: Sendable {
    private let client: S3Client
    private let cleanup: UploadCleanup
    private let blocking: BlockingThread

    /// How long storing or reading one upload may take, in seconds.
    private static let secondsMax = 600.0
    /// Bytes read per request.
    private static let pieceBytesMax = 8_388_608

    /// - Throws: `request.invalid` for invalid settings, `publish.denied` without credentials.
    package init(_ settings: S3Settings, policy: DownloadPolicy, blocking: BlockingThread, logger: Logger) throws {
        client = try S3Client(settings, policy: policy, logger: logger)
        cleanup = UploadCleanup(client, logger: logger)
        self.blocking = blocking
    }

    package func shutdown() async { await client.shutdown() }

    private func key(_ name: String) -> String { client.bucket.location.key("_uploads/\(name)") }

    private var deadline: ContinuousClock.Instant { .now + .seconds(Self.secondsMax) }

    /// Stores a file.
    ///
    /// - Throws: `output.not_writable` for a file of another length, `publish.…`.
    package func put(_ name: String, from path: String, bytes: Int, sha256: String) async throws {
        let descriptor = try await blocking.run { try Self.open(path, flags: O_RDONLY, bytes: bytes) }
        let object = S3Object(
            key: key(name), descriptor: descriptor.descriptor, bytes: bytes, sha256: sha256,
            mimeType: "application/octet-stream", name: name, cacheControl: "no-store")
        try await S3Upload(object: object, client: client, blocking: blocking, deadline: deadline, cleanup: cleanup)
            .run()
        // Keeps the descriptor open until the last byte is sent.
        withExtendedLifetime(descriptor) {}
    }

    /// Reads an object into a new file.
    ///
    /// - Throws: `source.not_found` when it does not exist, `publish.…`, `output.…`.
    package func get(_ name: String, into path: String, bytes: Int, sha256: String) async throws {
        let descriptor = try await blocking.run { try Self.open(path, flags: O_WRONLY | O_CREAT | O_TRUNC, bytes: nil) }
        var hash = SHA256()
        for start in stride(from: 0, to: bytes, by: Self.pieceBytesMax) {
            let piece = try await piece(name, range: start..<min(start + Self.pieceBytesMax, bytes))
            hash.update(data: piece)
            try await blocking.run {
                do throws(FileIOError) {
                    try FileIO.write(piece, to: descriptor.descriptor, at: start)
                } catch {
                    throw Self.fileError(error.code)
                }
            }
        }
        guard hash.finalize().hexadecimal == sha256 else {
            throw AttachPrepError(
                .sourceNotFound, "The upload was changed in the bucket; send the file again.", isRetryable: false)
        }
    }

    private func piece(_ name: String, range: Range<Int>) async throws -> [UInt8] {
        var request = S3Request(.get, key(name))
        request.part = ClosedRange(range)
        request.accepted = [404]
        request.responseBytesMax = Self.pieceBytesMax
        let response = try await client.send(request, before: deadline)
        guard response.status != 404 else {
            throw AttachPrepError(.sourceNotFound, "The upload no longer exists; send the file again.")
        }
        guard response.isWhole, response.body.count == range.count else {
            throw AttachPrepError(
                .publishRejected, "The bucket returned an upload of another length; try again.",
                detail: "\(response.status): \(response.body.count) bytes instead of \(range.count)", isRetryable: true)
        }
        return response.body
    }

    package func remove(_ name: String) async throws {
        var request = S3Request(.delete, key(name))
        request.accepted = [404]
        _ = try await client.send(request, before: deadline)
    }

    private static func open(_ path: String, flags: CInt, bytes: Int?) throws -> OwnedDescriptor {
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw fileError(errno) }
        let owned = OwnedDescriptor(descriptor: descriptor)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, bytes == nil || status.st_size == bytes else {
            throw fileError(EIO)
        }
        return owned
    }

    private static func fileError(_ code: CInt) -> AttachPrepError {
        let isFull = code == ENOSPC || code == EDQUOT
        return AttachPrepError(
            isFull ? .outputNoSpace : .outputNotWritable,
            isFull
                ? "The disk of the data folder is full; free some space."
                : "An upload's file cannot be used; try again.",
            detail: unsafe String(cString: strerror(code)))
    }
}
