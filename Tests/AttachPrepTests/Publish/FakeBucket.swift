import Foundation
import Logging
import MediaTypes
import TestSupport

@testable import AttachPrep

/// A bucket on a scripted endpoint: a real one does not fail on demand.
final class FakeBucket: Sendable {
    let server: LoopbackServer
    let folder: TemporaryFolder
    let client: S3Client
    let cleanup: UploadCleanup
    let blocking: BlockingThread

    static let environment = ["AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing"]

    /// - Parameter endpoint: the URL of a proxy in front of the server; nil for the server itself.
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

    /// The path of the uploaded object.
    static let path = "/media/push/cat/attachment.mp4"

    /// Uploads a file of this size.
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

    /// Method and query of each request.
    var requestLines: [String] {
        server.requests.map { request in
            let query = request.target.drop { $0 != "?" }
            return "\(request.method)\(query)"
        }
    }

    /// Responds to multipart uploads as S3 does, except where `change` returns another response.
    func serveParts(_ change: @escaping @Sendable (LoopbackRequest) -> LoopbackResponse? = { _ in nil }) {
        server.serve(Self.path) { request in
            if let response = change(request) { return response }
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

extension LoopbackResponse {
    static func xml(_ status: Int, _ text: String) -> LoopbackResponse {
        .status(status, ["Content-Type": "application/xml"], Data(text.utf8))
    }

    static func s3Error(_ status: Int, _ code: String) -> LoopbackResponse {
        xml(status, "<?xml version='1.0'?><Error><Code>\(code)</Code><Message>words</Message></Error>")
    }
}
