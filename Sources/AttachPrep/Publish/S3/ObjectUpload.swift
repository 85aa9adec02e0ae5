import Curl
import RichPush

/// Brings one object into the bucket: as one, or in parts above 8 MB.
struct ObjectUpload: Sendable {
    let object: S3Object
    let client: S3Client
    let blocking: BlockingLane
    let deadline: ContinuousClock.Instant
    /// Takes back what has been begun.
    let cleanup: UploadCleanup

    /// - Throws: `publish.…`, `deadline.exceeded`, `cancelled`; nothing is left in the bucket then.
    func run() async throws {
        let parts = PartPlan(bytes: object.bytes).parts
        if parts.isEmpty { try await putWhole() } else { try await putParts(parts) }
    }

    private func putWhole() async throws {
        var request = S3Request(.put, object.key)
        request.headers = object.headers
        request.payload = .file(
            TransferUpload(descriptor: object.descriptor, bytes: object.bytes), sha256: object.sha256)
        _ = try await client.send(request, before: deadline, reading: tag)
    }

    // MARK: In parts

    private func putParts(_ parts: [PartPlan.Part]) async throws {
        let id = try await begin()
        do {
            let tags = try await put(parts, of: id)
            try await complete(id, tags)
        } catch {
            cleanup.abandon(id, of: object.key)
            throw error
        }
    }

    private func begin() async throws -> String {
        var request = S3Request(.post, object.key, query: ["uploads": ""])
        request.headers = object.headers
        return try await client.send(request, before: deadline) { answer throws(S3Fault) in
            guard let id = XMLText.first("UploadId", in: answer.body), !id.isEmpty else {
                throw .strange(client.bucket, "no UploadId")
            }
            return id
        }
    }

    /// A few at a time: a connection of its own each.
    private func put(_ parts: [PartPlan.Part], of id: String) async throws -> [Int: String] {
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

    private func put(_ part: PartPlan.Part, of id: String) async throws -> String {
        let upload = TransferUpload(descriptor: object.descriptor, offset: part.offset, bytes: part.bytes)
        let sha256 = try await blocking.run { try PieceDigest.sha256(of: upload) }
        var request = S3Request(.put, object.key, query: ["partNumber": "\(part.number)", "uploadId": id])
        request.payload = .file(upload, sha256: sha256)
        return try await client.send(request, before: deadline, reading: tag)
    }

    private func complete(_ id: String, _ tags: [Int: String]) async throws {
        let body = PartPlan.completion(tags)
        var request = S3Request(.post, object.key, query: ["uploadId": id])
        request.payload = .bytes(body, sha256: PieceDigest.sha256(of: body))
        request.accepted = [404]
        let isThere = try await client.send(request, before: deadline) { answer throws(S3Fault) in
            // It may say 200 first, and what went wrong at the end of its answer.
            if answer.status != 404, XMLText.has("Error", in: answer.body) {
                throw S3Fault(S3Refusal(answer), client.bucket)
            }
            guard answer.status == 404 || XMLText.has("CompleteMultipartUploadResult", in: answer.body) else {
                throw .strange(client.bucket, "the end of an upload without a result")
            }
            return answer.status != 404
        }
        if isThere { return }
        // The answer to an earlier try may have been lost, and the upload with it, being complete. Nobody can say how
        // many tries there were: libcurl asks again by itself when a connection in use turns out dead.
        guard try await stands() else {
            throw S3Fault(S3Refusal(status: 404, code: "NoSuchUpload"), client.bucket).error
        }
    }

    private func stands() async throws -> Bool {
        var request = S3Request(.head, object.key)
        request.accepted = [404]
        let answer = try await client.send(request, before: deadline)
        return answer.status != 404 && answer.head[S3Object.digestHeader] == object.sha256
    }

    /// Every S3 tells the object's tag; what does not is something else.
    private func tag(of answer: WebAnswer) throws(S3Fault) -> String {
        guard let tag = answer.head["etag"], !tag.isEmpty else { throw .strange(client.bucket, "no ETag") }
        return tag
    }
}
