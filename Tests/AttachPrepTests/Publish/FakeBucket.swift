import Foundation
import Logging
import RichPush
import TestSupport

@testable import AttachPrep

/// A bucket whose endpoint answers as a test wants: the real one has no faults on demand.
final class FakeBucket: Sendable {
    let server: LoopbackServer
    let folder: TemporaryFolder
    let client: S3Client
    let cleanup: UploadCleanup
    let blocking: BlockingThread

    static let environment = ["AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing"]

    /// - Parameter endpoint: what stands in front of the server; nil for itself.
    init(
        environment: [String: String] = environment, endpoint: (LoopbackServer) throws -> String? = { _ in nil }
    ) throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        var settings = S3Settings(try S3Location("s3://media/push"), environment: environment)
        settings.endpoint = try endpoint(server) ?? server.url("")
        settings.usesPathStyle = true
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        client = try S3Client(settings, policy: DownloadPolicy(), logger: logger, backOff: .milliseconds(1))
        cleanup = UploadCleanup(client, logger: logger)
        blocking = try BlockingThread()
    }

    /// Where an object's requests go.
    static let path = "/media/push/cat/attachment.mp4"

    /// Brings a file of so many bytes.
    func upload(bytes: Int, within time: Duration = .seconds(30)) async throws {
        let path = try folder.write([UInt8](repeating: 7, count: bytes), to: "file")
        let file = OwnedDescriptor(descriptor: open(path, O_RDONLY | O_CLOEXEC))
        defer { withExtendedLifetime(file) {} }
        let object = S3Object(
            key: "push/cat/attachment.mp4", descriptor: file.descriptor, bytes: bytes, sha256: digest(bytes: bytes),
            mimeType: "video/mp4", name: "attachment.mp4", cacheControl: "public, max-age=3600")
        try await S3Upload(
            object: object, client: client, blocking: blocking, deadline: .now + time, cleanup: cleanup
        ).run()
    }

    func digest(bytes: Int) -> String { UploadDigest.sha256(of: [UInt8](repeating: 7, count: bytes)) }

    /// What the endpoint was asked, in a few words each.
    var asked: [String] {
        server.requests.map { request in
            let query = request.target.drop { $0 != "?" }
            return "\(request.method)\(query)"
        }
    }

    /// Answers uploads in parts as S3 does, but for what the test says of one of its requests.
    func serveParts(_ change: @escaping @Sendable (LoopbackRequest) -> LoopbackAnswer? = { _ in nil }) {
        server.serve(Self.path) { request in
            if let answer = change(request) { return answer }
            switch request.method {
            case "POST" where request.target.hasSuffix("?uploads="):
                return .xml(200, "<R><UploadId>id/1+</UploadId></R>")
            case "POST":
                return .xml(200, "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
            case "PUT": return .status(200, ["ETag": "\"\(request.body.count)\""])
            default: return .status(204)
            }
        }
    }
}

extension LoopbackAnswer {
    static func xml(_ status: Int, _ text: String) -> LoopbackAnswer {
        .status(status, ["Content-Type": "application/xml"], Data(text.utf8))
    }

    static func refusal(_ status: Int, _ code: String) -> LoopbackAnswer {
        xml(status, "<?xml version='1.0'?><Error><Code>\(code)</Code><Message>words</Message></Error>")
    }
}
