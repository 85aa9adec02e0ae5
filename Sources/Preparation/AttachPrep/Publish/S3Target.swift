import AttachPrepModel
import Glibc
import Logging
package import MediaTypes
import Tracing

/// Publishes results as objects of a bucket: the files as `prefix/_content/<digest>.jpg`, or in the layout by id as
/// `prefix/<id>/attachment.jpg`, and last the manifest as `prefix/<id>/manifest.json`.
///
/// Objects are never removed; use lifecycle rules of the bucket for that.
struct S3Target: PublishTarget {
    private let client: S3Client
    private let cleanup: UploadCleanup
    private let cacheControl: String
    let layout: ResultLayout
    private let baseURL: String?
    private let blocking: BlockingThread
    private let logger: Logger

    /// - Throws: `request.invalid` for invalid settings, `publish.denied` without credentials.
    init(
        _ settings: S3Settings, baseURL: String?, policy: DownloadPolicy, blocking: BlockingThread,
        tracer: (any Tracer)? = nil, logger: Logger
    ) throws {
        let cacheControl = settings.cacheControl ?? settings.layout.cacheControl
        guard cacheControl.utf8.allSatisfy({ 0x20...0x7e ~= $0 }), !cacheControl.isEmpty else {
            throw AttachPrepError(
                .requestInvalid, "The Cache-Control of files must be ASCII text, such as \"public, max-age=3600\".")
        }
        client = try S3Client(settings, policy: policy, tracer: tracer, logger: logger)
        cleanup = UploadCleanup(client, logger: logger)
        self.cacheControl = cacheControl
        layout = settings.layout
        self.baseURL = baseURL
        self.blocking = blocking
        self.logger = logger
    }

    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double {
        min(Limits.remotePublishReserveSeconds, budgetSeconds * Limits.remotePublishReserveShare)
    }

    func url(of file: PublishedFile, in result: String, layout: ResultLayout) -> String? {
        if let baseURL { return PublicURL.of(file, in: result, layout: layout, below: baseURL) }
        return client.bucket.url(key(of: file, in: result, layout))
    }

    func url(ofManifest result: String) -> String? {
        if let baseURL { return PublicURL.of("\(result)/\(Manifest.fileName)", below: baseURL) }
        return client.bucket.url(key(ofManifest: result))
    }

    private func key(of file: PublishedFile, in result: String, _ layout: ResultLayout) -> String {
        client.bucket.location.key(layout == .content ? file.contentPath : "\(result)/\(file.name)")
    }

    private func key(ofManifest result: String) -> String {
        client.bucket.location.key("\(result)/\(Manifest.fileName)")
    }

    var keepsFolders: Bool { false }

    // MARK: Publish

    func publishFiles(_ result: FinishedResult) async throws {
        let manifest = result.manifest
        let layout = manifest.sealed == nil ? layout : .content
        // Existing objects are written again: that renews their age, by which lifecycle rules remove objects.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for content in manifest.files {
                let file = PublishedFile(name: content.name, sha256: content.sha256)
                group.addTask {
                    let descriptor = OwnedDescriptor(descriptor: try result.staging.open(file.name))
                    let object = S3Object(
                        key: key(of: file, in: manifest.id, layout), descriptor: descriptor.descriptor,
                        bytes: content.bytes, sha256: file.sha256, mimeType: content.mimeType,
                        name: file.suggestedName, cacheControl: cacheControl)
                    try await put(object, from: descriptor, before: result.deadline)
                }
            }
            try await group.waitForAll()
        }
    }

    func complete(_ result: FinishedResult) async throws {
        // Nothing in the bucket says what sealed files are.
        if result.manifest.sealed != nil { return }
        let bytes = try await blocking.run { try result.staging.write(result.manifest) }
        let descriptor = OwnedDescriptor(descriptor: try result.staging.open(Manifest.fileName))
        // With no-cache, caches in between revalidate the manifest, so that readers see the current result.
        let object = S3Object(
            key: key(ofManifest: result.manifest.id), descriptor: descriptor.descriptor, bytes: bytes.count,
            sha256: UploadDigest.sha256(of: bytes), mimeType: "application/json", name: Manifest.fileName,
            cacheControl: "no-cache")
        try await put(object, from: descriptor, before: result.deadline)
    }

    private func put(
        _ object: S3Object, from descriptor: OwnedDescriptor, before deadline: ContinuousClock.Instant
    ) async throws {
        try await S3Upload(object: object, client: client, blocking: blocking, deadline: deadline, cleanup: cleanup)
            .run()
        // Keeps the descriptor open until the last byte is sent.
        withExtendedLifetime(descriptor) {}
    }

    // MARK: Check

    func publishedManifest(_ id: String) async -> Manifest? {
        var request = S3Request(.get, key(ofManifest: id))
        request.accepted = [404]
        request.responseBytesMax = Limits.publishedManifestBytesMax
        do {
            let response = try await client.send(request, before: .now + .seconds(Limits.publishCheckSecondsMax))
            guard response.status == 200, response.isWhole else { return nil }
            return try? Manifest(json: response.body)
        } catch {
            // If the check fails, the result is prepared again.
            logger.debug("could not check for a published result", metadata: ["id": "\(id)", "error": "\(error)"])
            return nil
        }
    }

    func checkCredentials() async throws {
        try await client.checkCredentials(before: .now + .seconds(Limits.credentialsCheckSecondsMax))
    }

    /// Starts a multipart upload and aborts it: that needs a valid endpoint, bucket, region, key and write permission,
    /// and leaves nothing behind.
    func probe() async throws {
        let deadline = ContinuousClock.now + .seconds(Limits.publishCheckSecondsMax)
        let key = client.bucket.location.key("attachprep-doctor/probe")
        let begun = S3Request(.post, key, query: ["uploads": ""])
        let id = try await client.send(begun, before: deadline) { response throws(S3Error) in
            guard let id = XMLText.first("UploadId", in: response.body) else {
                throw .unexpectedResponse(client.bucket, what: "no UploadId")
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
    /// Time limit for the first credentials of a command; a `credential_process` has 60 s.
    static let credentialsCheckSecondsMax = 75.0
    /// Time limit for reading a published manifest and for the probe of `doctor`.
    static let publishCheckSecondsMax = 10.0
}
