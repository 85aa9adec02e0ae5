import AttachPrepJobs
import Crypto
import Foundation
import Testing

struct MediaTests {
    private static let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private static let digest = SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()

    private func served() async throws -> (service: LiveService, path: String) {
        let service = try await LiveService()
        let media = MediaID.make()
        let path = try service.folder.write(Self.content, to: "content")
        let file = StoredFile(
            path: path, name: "attachment.mp4", mimeType: "video/mp4", bytes: Self.content.count, sha256: Self.digest)
        service.store.state.withLock { $0.files["\(media)/attachment.mp4"] = file }
        return (service, "/media/\(media)/attachment.mp4")
    }

    @Test func `a file is served to everybody, with its type, its name and its tag`() async throws {
        let (service, path) = try await served()
        let answer = try await service.stranger.get(path, [("Accept-Encoding", "gzip"), ("Accept", "image/*")])
        #expect(answer.status == 200 && answer.body == Self.content)
        #expect(answer.field("content-type") == "video/mp4")
        #expect(answer.field("etag") == "\"\(Self.digest)\"")
        #expect(answer.field("cache-control") == "public, max-age=31536000, immutable")
        #expect(answer.field("content-disposition") == "inline; filename=\"attachment.mp4\"")
        #expect(answer.field("x-content-type-options") == "nosniff")
        #expect(answer.field("accept-ranges") == "bytes")
        #expect(answer.field("content-encoding") == nil)
    }

    @Test(arguments: [-1, Int.min]) func `A length in the database that cannot be is a file that is not there`(
        bytes: Int
    )
        async throws
    {
        let service = try await LiveService()
        let media = MediaID.make()
        let file = StoredFile(
            path: service.folder.path, name: "a.mp4", mimeType: "video/mp4", bytes: bytes, sha256: Self.digest)
        service.store.state.withLock { $0.files["\(media)/a.mp4"] = file }
        #expect(try await service.stranger.get("/media/\(media)/a.mp4").status == 404)
        #expect(try await service.stranger.get("/media/\(media)/a.mp4", [("Range", "bytes=-5")]).status == 404)
    }

    @Test func `HEAD says the same without the content`() async throws {
        let (service, path) = try await served()
        let answer = try await service.stranger.send("HEAD", path)
        #expect(answer.status == 200 && answer.body.isEmpty)
        #expect(answer.field("content-length") == "200000")
        #expect(answer.field("etag") == "\"\(Self.digest)\"")
    }

    @Test(arguments: [
        ("bytes=0-9", 0..<10), ("bytes=199990-", 199_990..<200_000), ("bytes=-5", 199_995..<200_000),
        ("bytes=100-900000", 100..<200_000), ("bytes=-900000", 0..<200_000), ("BYTES=70000-70000", 70_000..<70_001),
    ])
    func `a range is answered with that part`(field: String, range: Range<Int>) async throws {
        let (service, path) = try await served()
        let answer = try await service.stranger.get(path, [("Range", field)])
        #expect(answer.status == 206 && answer.body == Array(Self.content[range]))
        #expect(answer.field("content-range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/200000")
    }

    @Test(arguments: ["bytes=5-1", "bytes=0-1,4-5", "items=0-1", "bytes=x-y", "bytes=-"])
    func `what is no single range is answered with everything`(field: String) async throws {
        let (service, path) = try await served()
        let answer = try await service.stranger.get(path, [("Range", field)])
        #expect(answer.status == 200 && answer.body.count == 200_000)
    }

    @Test(arguments: ["bytes=200000-", "bytes=99999999999999999999-", "bytes=-0"])
    func `a range behind the end is refused with the length`(field: String) async throws {
        let (service, path) = try await served()
        let answer = try await service.stranger.get(path, [("Range", field)])
        #expect(answer.status == 416 && answer.code == "request.invalid")
        #expect(answer.field("content-range") == "bytes */200000")
    }

    @Test func `If-Range holds for the tag alone`() async throws {
        let (service, path) = try await served()
        let send = { (condition: String) in
            try await service.stranger.get(path, [("Range", "bytes=0-9"), ("If-Range", condition)]).status
        }
        #expect(try await send("\"\(Self.digest)\"") == 206)
        #expect(try await send("\"other\"") == 200)
        #expect(try await send("W/\"\(Self.digest)\"") == 200)
        #expect(try await send("Wed, 21 Oct 2026 07:28:00 GMT") == 200)
    }

    @Test(arguments: ["\"%@\"", "W/\"%@\"", "\"x\", \"%@\"", "*"])
    func `who knows the tag gets no content`(condition: String) async throws {
        let (service, path) = try await served()
        let field = condition.replacingOccurrences(of: "%@", with: Self.digest)
        let answer = try await service.stranger.get(path, [("If-None-Match", field)])
        #expect(answer.status == 304 && answer.body.isEmpty)
        #expect(answer.field("etag") == "\"\(Self.digest)\"")
        #expect(answer.field("cache-control")?.contains("immutable") == true)
    }

    @Test(arguments: [
        "/media/00000000000000000000000000000000/attachment.mp4", "/media/x/attachment.mp4",
        "/media/../../etc/passwd", "/media/00000000000000000000000000000000/..%2f..%2fetc%2fpasswd",
    ])
    func `what is unknown is 404`(path: String) async throws {
        let answer = try await LiveService().stranger.get(path)
        #expect(answer.status == 404 && answer.code == "request.not_found")
    }

    @Test func `a file that is gone from the disk is 404, not half an answer`() async throws {
        let (service, path) = try await served()
        try FileManager.default.removeItem(atPath: service.folder.path("content"))
        #expect(try await service.stranger.get(path).status == 404)
    }
}
