import Foundation
import Logging
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Against a real endpoint, which verifies every signature.
@Suite(.timeLimit(.minutes(3))) struct S3TargetTests {
    let store: ObjectStore
    let folder: TemporaryFolder
    let prefix = "real-\(UUID().uuidString)"

    init() async throws {
        store = try await ObjectStore.shared()
        folder = try TemporaryFolder()
    }

    private func target(_ url: String? = nil, _ change: [String: String] = [:]) throws -> S3Target {
        let environment = store.environment.merging(change) { $1 }
        let location = try S3Location(url ?? "s3://\(ObjectStore.bucket)/\(prefix)")
        return try S3Target(
            S3Settings(location, environment: environment), baseURL: nil, policy: DownloadPolicy(),
            blocking: BlockingThread(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// A prepared result with one file.
    private func result(_ id: String, bytes: [UInt8]) throws -> FinishedResult {
        let staging = try StagingFolder(output: folder.path)
        try Data(bytes).write(to: URL(filePath: "\(staging.path)/attachment.jpg"))
        let type = try #require(AttachmentType.allCases.first { $0.uti == "public.jpeg" })
        var manifest = Manifest(
            id: id, requestDigest: "d", outcome: .passed, source: ManifestSource(url: "http://x/"))
        manifest.attachment = ManifestFile(
            file: "attachment.jpg", type: type, bytes: bytes.count, sha256: UploadDigest.sha256(of: bytes))
        return FinishedResult(manifest: manifest, staging: staging, folder: nil, deadline: .now + .seconds(60))
    }

    /// The key of bytes by their content.
    private func key(_ bytes: [UInt8]) -> String {
        "\(prefix)/_content/\(UploadDigest.sha256(of: bytes).prefix(32)).jpg"
    }

    private func publish(_ result: FinishedResult, to target: S3Target) async throws {
        try await target.publishFiles(result)
        try await target.complete(result)
    }

    private func failure(of target: S3Target) async throws -> AttachPrepError {
        let result = try result("cat", bytes: [1, 2, 3])
        let error = await #expect(throws: AttachPrepError.self) { try await publish(result, to: target) }
        return try #require(error)
    }

    @Test func `A published result is stored unchanged, with its headers`() async throws {
        let target = try target()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try await publish(result("cat", bytes: bytes), to: target)
        let object = try await store.object(key(bytes))
        #expect(object.status == 200 && object.body == bytes)
        #expect(object.headers["content-type"] == "image/jpeg")
        let name = "attachment-\(UploadDigest.sha256(of: bytes).prefix(8)).jpg"
        #expect(object.headers["content-disposition"] == "inline; filename=\"\(name)\"")
        #expect(object.headers["cache-control"] == "public, max-age=31536000, immutable")
        #expect(object.headers["x-amz-meta-sha256"] == UploadDigest.sha256(of: bytes))
        let manifest = try await store.object("\(prefix)/cat/manifest.json")
        #expect(manifest.headers["content-type"] == "application/json")
        #expect(manifest.headers["cache-control"] == "no-cache")
        #expect(try Manifest(json: manifest.body).attachment?.bytes == bytes.count)
        #expect(await target.publishedManifest("cat")?.requestDigest == "d")
        #expect(await target.publishedManifest("dog") == nil)
        await target.shutdown()
    }

    @Test(arguments: ["a b", "ü+ß", "a&b=c?d#e", "100%25", "~'()*!,;:@$", "日本"])
    func `A prefix with special characters is signed as the endpoint expects`(odd: String) async throws {
        let target = try target("s3://\(ObjectStore.bucket)/\(prefix)/\(odd)")
        try await publish(result("cat", bytes: [1]), to: target)
        let file = PublishedFile(name: "attachment.jpg", sha256: UploadDigest.sha256(of: [1]))
        let key = PercentEncoding.encoded("\(prefix)/\(odd)/\(file.contentPath)", keeping: "/")
        #expect(try await store.object(key).body == [1])
        let url = try #require(target.url(of: file, in: "cat", layout: .content))
        #expect(url == "\(store.url)/\(ObjectStore.bucket)/\(key)")
        await target.shutdown()
    }

    @Test func `A large file is completed from its parts`() async throws {
        let target = try target()
        let random = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
        let bytes = Array(try #require(try random.read(upToCount: 17_000_000)))
        try await publish(result("large", bytes: bytes), to: target)
        let object = try await store.object(key(bytes))
        #expect(object.body == bytes)
        #expect(object.headers["content-type"] == "image/jpeg")
        #expect(object.headers["x-amz-meta-sha256"] == UploadDigest.sha256(of: bytes))
        #expect(try await store.unfinished(below: prefix) == [])
        await target.shutdown()
    }

    @Test func `An upload ended by its budget leaves no parts`() async throws {
        let target = try target()
        var late = try result("late", bytes: [UInt8](repeating: 1, count: 40_000_000))
        late = FinishedResult(
            manifest: late.manifest, staging: late.staging, folder: nil, deadline: .now + .milliseconds(150))
        await #expect(throws: AttachPrepError.self) { try await target.publishFiles(late) }
        await target.shutdown()
        #expect(try await store.unfinished(below: prefix) == [])
        #expect(try await store.keys(below: prefix) == [])
    }

    @Test func `Bytes that differ from the signed digest are rejected`() async throws {
        let target = try target()
        let result = try result("cat", bytes: [1, 2, 3])
        try Data([1, 2, 4]).write(to: URL(filePath: "\(result.staging.path)/attachment.jpg"))
        let error = await #expect(throws: AttachPrepError.self) { try await target.publishFiles(result) }
        #expect(error?.code == .publishUnavailable && error?.detail?.contains("BadDigest") == true)
        #expect(try await store.keys(below: prefix) == [])
    }

    @Test func `A wrong secret, a missing bucket and a read-only key have different messages`() async throws {
        let secret = try await failure(of: target(nil, ["AWS_SECRET_ACCESS_KEY": "wrong"]))
        #expect(secret.code == .publishDenied && secret.message.contains("secret key"), "\(secret)")
        let bucket = try await failure(of: target("s3://nowhere/\(prefix)"))
        #expect(bucket.code == .publishNotFound && bucket.message.contains("no bucket nowhere"), "\(bucket)")
        let reader = ["AWS_ACCESS_KEY_ID": "test:reader", "AWS_SECRET_ACCESS_KEY": "reading"]
        let denied = try await failure(of: target(nil, reader))
        #expect(denied.code == .publishDenied && denied.message.contains("s3:PutObject"), "\(denied)")
        #expect(try await store.keys(below: prefix) == [])
    }

    @Test func `A wrong region is reported with the right one`() async throws {
        let error = try await failure(of: target(nil, ["AWS_REGION": "eu-west-1"]))
        #expect(error.code == .publishNotFound && error.message.contains("region us-east-1"), "\(error)")
    }

    @Test func `A probe checks whether publishing works, and leaves nothing behind`() async throws {
        try await target().probe()
        #expect(try await store.keys(below: prefix) == [])
        #expect(try await store.unfinished(below: prefix) == [])
        let wrong = try target(nil, ["AWS_SECRET_ACCESS_KEY": "wrong"])
        await #expect(throws: AttachPrepError.self) { try await wrong.probe() }
    }
}
