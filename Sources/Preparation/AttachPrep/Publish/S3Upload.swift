import Crypto
import Curl
import Glibc
import Linux
import Logging
package import MediaTypes
import SafeArithmetic
import Synchronization

/// Uploads one object: in one request, or in parts above `Limits.publishPartBytes`.
struct S3Upload: Sendable {
    let object: S3Object
    let client: S3Client
    let blocking: BlockingThread
    let deadline: ContinuousClock.Instant
    /// Aborts a multipart upload that failed.
    let cleanup: UploadCleanup

    /// - Throws: `publish.…`, `deadline.exceeded`, `cancelled`; a failed multipart upload is aborted in the background.
    func run() async throws {
        let parts = MultipartPlan(bytes: object.bytes).parts
        if parts.isEmpty { try await putWhole() } else { try await putParts(parts) }
    }

    private func putWhole() async throws {
        var request = S3Request(.put, object.key)
        request.headers = object.headers
        request.payload = .file(
            TransferUpload(descriptor: object.descriptor, bytes: object.bytes), sha256: object.sha256)
        _ = try await client.send(request, before: deadline, reading: tag)
    }

    // MARK: Multipart upload

    private func putParts(_ parts: [MultipartPlan.Part]) async throws {
        let id = try await begin()
        do {
            let tags = try await put(parts, of: id)
            try await complete(id, tags: tags)
        } catch {
            cleanup.scheduleAbort(id, of: object.key)
            throw error
        }
    }

    private func begin() async throws -> String {
        var request = S3Request(.post, object.key, query: ["uploads": ""])
        request.headers = object.headers
        return try await client.send(request, before: deadline) { response throws(S3Error) in
            guard let id = XMLText.first("UploadId", in: response.body), !id.isEmpty else {
                throw .unexpectedResponse(client.bucket, what: "no UploadId")
            }
            return id
        }
    }

    /// Uploads `Limits.publishPartsInFlight` parts at a time, each over its own connection.
    private func put(_ parts: [MultipartPlan.Part], of id: String) async throws -> [Int: String] {
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            var waiting = parts[...]
            var tags: [Int: String] = [:]
            for part in waiting.prefix(Limits.publishPartsInFlight) {
                group.addTask { (part.number, try await put(part, of: id)) }
            }
            waiting = waiting.dropFirst(Limits.publishPartsInFlight)
            while let (number, tag) = try await group.next() {
                tags[number] = tag
                guard let part = waiting.popFirst() else { continue }
                group.addTask { (part.number, try await put(part, of: id)) }
            }
            return tags
        }
    }

    private func put(_ part: MultipartPlan.Part, of id: String) async throws -> String {
        let upload = TransferUpload(descriptor: object.descriptor, offset: part.offset, bytes: part.bytes)
        let sha256 = try await blocking.run { try UploadDigest.sha256(of: upload) }
        var request = S3Request(.put, object.key, query: ["partNumber": "\(part.number)", "uploadId": id])
        request.payload = .file(upload, sha256: sha256)
        return try await client.send(request, before: deadline, reading: tag)
    }

    private func complete(_ id: String, tags: [Int: String]) async throws {
        let body = MultipartPlan.completion(tags)
        var request = S3Request(.post, object.key, query: ["uploadId": id])
        request.payload = .bytes(body, sha256: UploadDigest.sha256(of: body))
        request.accepted = [404]
        let isThere = try await client.send(request, before: deadline) { response throws(S3Error) in
            // S3 may send status 200 before it has finished, and an error in the body.
            if response.status != 404, XMLText.has("Error", in: response.body) {
                throw S3Error(S3ErrorResponse(response), client.bucket)
            }
            guard response.status == 404 || XMLText.has("CompleteMultipartUploadResult", in: response.body) else {
                throw .unexpectedResponse(client.bucket, what: "no CompleteMultipartUploadResult")
            }
            return response.status != 404
        }
        if isThere { return }
        // A 404 may mean that an earlier attempt completed the upload and its response was lost. Attempts cannot be
        // counted: libcurl repeats a request by itself when a reused connection turns out to be closed.
        guard try await isStored() else {
            throw S3Error(S3ErrorResponse(status: 404, code: "NoSuchUpload"), client.bucket).error
        }
    }

    private func isStored() async throws -> Bool {
        var request = S3Request(.head, object.key)
        request.accepted = [404]
        let response = try await client.send(request, before: deadline)
        return response.status != 404 && response.head[ForeignText(S3Object.digestHeader)] == ForeignText(object.sha256)
    }

    /// The ETag of a response; a response without one does not come from S3.
    private func tag(of response: HTTPClientResponse) throws(S3Error) -> String {
        guard let tag = response.head["etag"], !tag.isEmpty else {
            throw .unexpectedResponse(client.bucket, what: "no ETag")
        }
        return tag.string
    }
}

/// A file to upload, with the key and headers of its object.
struct S3Object: Sendable, Hashable {
    let key: String
    /// Open for reading.
    let descriptor: CInt
    let bytes: Int
    /// Lowercase hexadecimal.
    let sha256: String
    let mimeType: String
    /// The file name under which a browser saves it.
    let name: String
    let cacheControl: String

    /// The headers that the object is served with, and its SHA-256: the ETag of a multipart object is not a digest.
    var headers: [(name: String, value: String)] {
        [
            ("Content-Type", mimeType), ("Content-Disposition", "inline; filename=\"\(name)\""),
            ("Cache-Control", cacheControl), (Self.digestHeader, sha256),
        ]
    }

    static let digestHeader = "x-amz-meta-sha256"
}

/// The parts in which a file is uploaded. Pure.
struct MultipartPlan: Sendable, Hashable {
    struct Part: Sendable, Hashable {
        /// The part number, from 1.
        let number: Int
        let offset: Int
        let bytes: Int
    }

    /// Empty for a file that is uploaded in one request.
    let parts: [Part]

    init(bytes: Int, partBytes: Int = Limits.publishPartBytes) {
        guard bytes > partBytes else {
            parts = []
            return
        }
        parts = stride(from: 0, to: bytes, by: partBytes).enumerated().map { index, offset in
            Part(number: index + 1, offset: offset, bytes: min(partBytes, bytes - offset))
        }
    }

    /// The XML body that completes an upload from the ETags by part number.
    static func completion(_ tags: [Int: String]) -> [UInt8] {
        let rows = tags.sorted { $0.key < $1.key }.map { number, tag in
            "<Part><PartNumber>\(number)</PartNumber><ETag>\(XMLText.escaped(tag))</ETag></Part>"
        }
        return Array("<CompleteMultipartUpload>\(rows.joined())</CompleteMultipartUpload>".utf8)
    }
}

/// The SHA-256 of a request body, in lowercase hexadecimal.
enum UploadDigest {
    static func sha256(of bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hexadecimal }

    /// The SHA-256 of a part of a file; blocking.
    ///
    /// - Throws: `output.not_writable` when the part cannot be read.
    static func sha256(of upload: TransferUpload) throws -> String {
        var hash = SHA256()
        var done = 0
        while done < upload.bytes {
            let wanted = min(chunkBytes, upload.bytes - done)
            let chunk: [UInt8]
            do { chunk = try FileIO.bytes(upload.descriptor, at: upload.offset + done, count: wanted) } catch {
                throw OutputErrors.error(error.code)
            }
            guard chunk.count == wanted else { throw OutputErrors.error(EIO) }
            hash.update(data: chunk)
            done += wanted
        }
        return hash.finalize().hexadecimal
    }

    /// 256 KiB: large enough that system calls cost little compared to hashing.
    private static let chunkBytes = 262_144
}

/// Aborts incomplete multipart uploads, whose parts are billed until then.
///
/// It has its own time limit, since the request of the upload may have no time left.
final class UploadCleanup: Sendable {
    private let client: S3Client
    private let logger: Logger
    private let state = Mutex((last: 0, tasks: [Int: Task<Void, Never>]()))

    init(_ client: S3Client, logger: Logger) {
        self.client = client
        self.logger = logger
    }

    /// Starts aborting an upload in the background.
    func scheduleAbort(_ id: String, of key: String) {
        state.withLock { state in
            state.last += 1
            let number = state.last
            state.tasks[number] = Task { [self] in
                await tryAbort(id, of: key)
                remove(number)
            }
        }
    }

    private func remove(_ number: Int) { state.withLock { $0.tasks[number] = nil } }

    /// Returns when all uploads are aborted; after `limit`, the remaining attempts are cancelled.
    func finish(within limit: Duration) async {
        let alarm = Task {
            try await ContinuousClock().sleep(for: limit)
            for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
        }
        while let task = state.withLock({ $0.tasks.values.first }) { await task.value }
        alarm.cancel()
    }

    private func tryAbort(_ id: String, of key: String) async {
        do {
            try await abortUpload(id, of: key, before: .now + .seconds(Limits.publishCleanupSecondsMax))
        } catch {
            logger.warning(
                "a failed multipart upload could not be aborted; add a bucket rule that expires incomplete uploads",
                metadata: ["error": "\(error)"])
        }
    }

    /// Aborts an upload; one that does not exist any more counts as aborted.
    ///
    /// - Throws: `publish.…` when the endpoint does not abort it, `deadline.exceeded`, `cancelled`.
    func abortUpload(_ id: String, of key: String, before deadline: ContinuousClock.Instant) async throws {
        var request = S3Request(.delete, key, query: ["uploadId": id])
        request.accepted = [404]
        _ = try await client.send(request, before: deadline)
    }
}

extension Limits {
    /// Larger files are uploaded in parts of this many bytes: S3 requires at least 5 MiB for all but the last.
    package static let publishPartBytes = 8_000_000
    /// Concurrent parts of one file: a 50 MB movie has seven.
    static let publishPartsInFlight = 3
    /// Time limit for aborting a failed upload when its request has no time left.
    static let publishCleanupSecondsMax = 10.0
}
