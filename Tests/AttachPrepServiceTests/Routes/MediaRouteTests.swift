import AttachPrepJobs
import Crypto
import Foundation
import Testing

struct MediaRouteTests {
    private static let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private static let digest = SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()

    private func serviceWithFile() async throws -> (service: LiveService, path: String) {
        let service = try await LiveService()
        let media = MediaID.make()
        let path = try service.folder.write(Self.content, to: "content")
        let file = StoredFile(
            path: path, name: "attachment.mp4", mimeType: "video/mp4", bytes: Self.content.count, sha256: Self.digest)
        service.store.state.withLock { $0.files["\(media)/attachment.mp4"] = file }
        return (service, "/media/\(media)/attachment.mp4")
    }

    @Test func `A file is served without a token, with type, name and ETag`() async throws {
        let (service, path) = try await serviceWithFile()
        let response = try await service.anonymous.get(
            path, [("Accept-Encoding", "gzip"), ("Accept", "image/*")])
        #expect(response.status == 200 && response.body == Self.content)
        #expect(response.field("content-type") == "video/mp4")
        #expect(response.field("etag") == "\"\(Self.digest)\"")
        #expect(response.field("cache-control") == "public, max-age=31536000, immutable")
        let name = "attachment-\(Self.digest.prefix(8)).mp4"
        #expect(response.field("content-disposition") == "inline; filename=\"\(name)\"")
        #expect(response.field("x-content-type-options") == "nosniff")
        #expect(response.field("accept-ranges") == "bytes")
        #expect(response.field("content-encoding") == nil)
    }

    // Issue 23, item 9: a tutorial's extension keeps the suggested name in one folder.
    @Test func `A file is served under its unique name too, which is the one that clients save`() async throws {
        let (service, path) = try await serviceWithFile()
        let unique = path.replacing("attachment.mp4", with: "attachment-\(Self.digest.prefix(8)).mp4")
        #expect(try await service.anonymous.get(unique).body == Self.content)
        for other in ["attachment-00000000.mp4", "attachment-\(Self.digest.prefix(7)).mp4", "thumbnail.mp4"] {
            let response = try await service.anonymous.get(path.replacing("attachment.mp4", with: other))
            #expect(response.status == 404)
        }
    }

    @Test(arguments: [-1, Int.min]) func `A file with an impossible length in the database returns 404`(
        bytes: Int
    )
        async throws
    {
        let service = try await LiveService()
        let media = MediaID.make()
        let file = StoredFile(
            path: service.folder.path, name: "a.mp4", mimeType: "video/mp4", bytes: bytes, sha256: Self.digest)
        service.store.state.withLock { $0.files["\(media)/a.mp4"] = file }
        #expect(try await service.anonymous.get("/media/\(media)/a.mp4").status == 404)
        #expect(try await service.anonymous.get("/media/\(media)/a.mp4", [("Range", "bytes=-5")]).status == 404)
    }

    @Test func `HEAD returns the same headers without content`() async throws {
        let (service, path) = try await serviceWithFile()
        let response = try await service.anonymous.send("HEAD", path)
        #expect(response.status == 200 && response.body.isEmpty)
        #expect(response.field("content-length") == "200000")
        #expect(response.field("etag") == "\"\(Self.digest)\"")
    }

    @Test(arguments: [
        ("bytes=0-9", 0..<10), ("bytes=199990-", 199_990..<200_000), ("bytes=-5", 199_995..<200_000),
        ("bytes=100-900000", 100..<200_000), ("bytes=-900000", 0..<200_000), ("BYTES=70000-70000", 70_000..<70_001),
    ])
    func `A range returns partial content`(field: String, range: Range<Int>) async throws {
        let (service, path) = try await serviceWithFile()
        let response = try await service.anonymous.get(path, [("Range", field)])
        #expect(response.status == 206 && response.body == Array(Self.content[range]))
        #expect(response.field("content-range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/200000")
    }

    @Test(arguments: ["bytes=5-1", "bytes=0-1,4-5", "items=0-1", "bytes=x-y", "bytes=-"])
    func `Invalid and multiple ranges return the whole file`(field: String) async throws {
        let (service, path) = try await serviceWithFile()
        let response = try await service.anonymous.get(path, [("Range", field)])
        #expect(response.status == 200 && response.body.count == 200_000)
    }

    @Test(arguments: ["bytes=200000-", "bytes=99999999999999999999-", "bytes=-0"])
    func `A range beyond the end is rejected with the length`(field: String) async throws {
        let (service, path) = try await serviceWithFile()
        let response = try await service.anonymous.get(path, [("Range", field)])
        #expect(response.status == 416 && response.code == "request.invalid")
        #expect(response.field("content-range") == "bytes */200000")
    }

    @Test func `If-Range matches only a strong ETag`() async throws {
        let (service, path) = try await serviceWithFile()
        let send = { (condition: String) in
            try await service.anonymous.get(path, [("Range", "bytes=0-9"), ("If-Range", condition)]).status
        }
        #expect(try await send("\"\(Self.digest)\"") == 206)
        #expect(try await send("\"other\"") == 200)
        #expect(try await send("W/\"\(Self.digest)\"") == 200)
        #expect(try await send("Wed, 21 Oct 2026 07:28:00 GMT") == 200)
    }

    @Test(arguments: ["\"%@\"", "W/\"%@\"", "\"x\", \"%@\"", "*"])
    func `If-None-Match with the ETag returns 304`(condition: String) async throws {
        let (service, path) = try await serviceWithFile()
        let field = condition.replacingOccurrences(of: "%@", with: Self.digest)
        let response = try await service.anonymous.get(path, [("If-None-Match", field)])
        #expect(response.status == 304 && response.body.isEmpty)
        #expect(response.field("etag") == "\"\(Self.digest)\"")
        #expect(response.field("cache-control")?.contains("immutable") == true)
    }

    @Test(arguments: [
        "/media/00000000000000000000000000000000/attachment.mp4", "/media/x/attachment.mp4",
        "/media/../../etc/passwd", "/media/00000000000000000000000000000000/..%2f..%2fetc%2fpasswd",
    ])
    func `An unknown file returns 404`(path: String) async throws {
        let response = try await LiveService().anonymous.get(path)
        #expect(response.status == 404 && response.code == "request.not_found")
    }

    @Test func `A file that is missing on disk returns 404, not a partial response`() async throws {
        let (service, path) = try await serviceWithFile()
        try FileManager.default.removeItem(atPath: service.folder.path("content"))
        #expect(try await service.anonymous.get(path).status == 404)
    }
}
