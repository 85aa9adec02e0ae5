import AttachPrepModel
import Glibc
import Logging
package import RichPush

/// Publishes results as objects of a bucket: `prefix/<id>/attachment.jpg` and the other files, `manifest.json` last.
///
/// Objects are never removed; use lifecycle rules of the bucket for that.
struct S3Target: PublishTarget {
    private let client: S3Client
    private let cleanup: UploadCleanup
    private let cacheControl: String
    private let baseURL: String?
    private let blocking: BlockingThread
    private let logger: Logger

    /// - Throws: `request.invalid` for invalid settings, `publish.denied` without credentials.
    init(
        _ settings: S3Settings, baseURL: String?, policy: DownloadPolicy, blocking: BlockingThread, logger: Logger
    ) throws {
        guard settings.cacheControl.utf8.allSatisfy({ 0x20...0x7e ~= $0 }), !settings.cacheControl.isEmpty else {
            throw AttachPrepError(
                .requestInvalid, "The Cache-Control of files must be ASCII text, such as \"public, max-age=3600\".")
        }
        client = try S3Client(settings, policy: policy, logger: logger)
        cleanup = UploadCleanup(client, logger: logger)
        cacheControl = settings.cacheControl
        self.baseURL = baseURL
        self.blocking = blocking
        self.logger = logger
    }

    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double {
        // Bounded: floating-point numbers.
        min(Limits.remotePublishReserveSeconds, budgetSeconds * Limits.remotePublishReserveShare)
    }

    func url(of file: String, in result: String) -> String? {
        if let baseURL { return PublicURL.of(file, in: result, below: baseURL) }
        return client.bucket.url(client.bucket.location.key(of: file, in: result))
    }

    var keepsFolders: Bool { false }

    // MARK: Publish

    func publishFiles(_ result: FinishedResult) async throws {
        let manifest = result.manifest
        var files = [manifest.thumbnail, manifest.crop].compactMap(\.self)
            .map { ($0.file, $0.mimeType, $0.bytes, $0.sha256) }
        if let file = manifest.attachment { files.append((file.file, file.mimeType, file.bytes, file.sha256)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (name, mimeType, bytes, sha256) in files {
                group.addTask {
                    try await put(name, mimeType, bytes, sha256, cacheControl, of: result)
                }
            }
            try await group.waitForAll()
        }
    }

    func complete(_ result: FinishedResult) async throws {
        let bytes = try await blocking.run { try result.staging.write(result.manifest) }
        // With no-cache, caches in between revalidate the manifest, so that readers see the current result.
        try await put(
            Manifest.fileName, "application/json", bytes.count, UploadDigest.sha256(of: bytes), "no-cache", of: result)
    }

    private func put(
        _ name: String, _ mimeType: String, _ bytes: Int, _ sha256: String, _ cacheControl: String,
        of result: FinishedResult
    ) async throws {
        let file = OwnedDescriptor(descriptor: try result.staging.open(name))
        let object = S3Object(
            key: client.bucket.location.key(of: name, in: result.manifest.id), descriptor: file.descriptor,
            bytes: bytes, sha256: sha256, mimeType: mimeType, name: name, cacheControl: cacheControl)
        try await S3Upload(
            object: object, client: client, blocking: blocking, deadline: result.deadline, cleanup: cleanup
        ).run()
        // Keeps the descriptor open until the last byte is sent.
        withExtendedLifetime(file) {}
    }

    // MARK: Check

    func publishedManifest(_ id: String) async -> Manifest? {
        var request = S3Request(.get, client.bucket.location.key(of: Manifest.fileName, in: id))
        request.accepted = [404]
        request.answerBytesMax = Limits.publishedManifestBytesMax
        do {
            let answer = try await client.send(request, before: .now + .seconds(Limits.publishCheckSecondsMax))
            guard answer.status == 200, answer.isWhole else { return nil }
            return try? Manifest(json: answer.body)
        } catch {
            // If the check fails, the result is prepared again.
            logger.debug("could not check for a published result", metadata: ["id": "\(id)", "error": "\(error)"])
            return nil
        }
    }

    /// Starts a multipart upload and aborts it: that needs a valid endpoint, bucket, region, key and write permission,
    /// and leaves nothing behind.
    func probe() async throws {
        let deadline = ContinuousClock.now + .seconds(Limits.publishCheckSecondsMax)
        let key = client.bucket.location.key(of: "probe", in: "attachprep-doctor")
        let begun = S3Request(.post, key, query: ["uploads": ""])
        let id = try await client.send(begun, before: deadline) { answer throws(S3Error) in
            guard let id = XMLText.first("UploadId", in: answer.body) else {
                throw .unexpectedResponse(client.bucket, "no UploadId")
            }
            return id
        }
        try await cleanup.abortUpload(id, of: key, before: deadline)
    }

    /// The time for aborting uploads at shutdown; with the drain time, less than the grace period of Kubernetes.
    private static let cleanupAtEndMax = Duration.seconds(3)

    func shutdown() async {
        await cleanup.finish(within: Self.cleanupAtEndMax)
        await client.shutdown()
    }
}

extension Limits {
    /// Bytes of a published manifest: some 3 KB; a larger file was not written by attachprep.
    package static let publishedManifestBytesMax = 262_144
    /// Reserved from a budget for uploading: 50 MB take 4 s at 100 Mbit/s.
    static let remotePublishReserveSeconds = 3.0
    /// The largest share of a short budget to reserve.
    static let remotePublishReserveShare = 0.2
    /// Time limit for reading a published manifest and for the probe of `doctor`.
    static let publishCheckSecondsMax = 10.0
}
