public import AttachPrepModel
import FoundationEssentials
import Glibc
import Linux
public import Logging
public import MediaEngine
public import MediaTypes

/// Prepares media URLs as files that are ready to attach; the main entry point of the library.
///
/// ```swift
/// let preparer = try AttachmentPreparer(PreparerConfiguration(output: "prepared"))
/// let manifest = await preparer.prepare(AttachmentRequest(source: "https://cdn.example/cat.webp"))
/// ```
///
/// Requests may be prepared concurrently; the configuration limits downloads and media work.
public final class AttachmentPreparer: Sendable {
    private let configuration: PreparerConfiguration
    let dependencies: PipelineDependencies
    private let pool: MediaProcessPool?
    private let logger: Logger

    /// Starts the media processes for `requestsExpected`, so that they load their libraries during the first downloads.
    ///
    /// - Parameters:
    ///   - configuration: The settings for all requests.
    ///   - engine: Replaces the pool of media processes, as in tests.
    ///   - logger: Where the library logs.
    /// - Throws: `request.invalid` for an invalid configuration, `internal` when `attachprep-media` is missing.
    public init(
        _ configuration: PreparerConfiguration, engine: (any MediaEngine)? = nil,
        logger: Logger = Logger(label: "attachprep")
    ) throws {
        self.configuration = configuration
        self.logger = logger
        if let engine {
            pool = nil
            dependencies = try PipelineDependencies(engine: engine, configuration: configuration, logger: logger)
        } else {
            let pool = try MediaProcessPool(
                executable: configuration.mediaExecutable ?? MediaExecutable.locate(),
                mediaSlots: configuration.mediaSlots, requiresSandbox: configuration.requiresSandbox,
                niceness: configuration.mediaNiceness)
            pool.warmUp(requests: configuration.requestsExpected)
            self.pool = pool
            dependencies = try PipelineDependencies(engine: pool, configuration: configuration, logger: logger)
        }
        StagingFolder.sweep(output: configuration.output)
    }

    /// The folder in which results are prepared, and in which they stay unless they are published elsewhere.
    public var output: String { configuration.output }

    /// Whether results are folders in `output`; false if they are only stored where they are published.
    public var keepsFolders: Bool { dependencies.target.keepsFolders }

    /// An example of the URLs of published files; nil if results are folders in `output`.
    public var publishedURL: String? {
        keepsFolders ? nil : dependencies.target.url(ofManifest: "attachprep")
    }

    /// The result of the last attempt to publish; nil before the first.
    public var publishStatus: PublishStatus? { dependencies.target.status }

    /// Checks whether there are credentials for publishing, before anything is downloaded.
    ///
    /// - Throws: The error with which publishing would fail: `publish.…`.
    public func checkCredentials() async throws { try await dependencies.target.checkCredentials() }

    /// Checks whether results could be published now.
    ///
    /// - Throws: The error with which publishing would fail: `publish.…`.
    public func probeTarget() async throws { try await dependencies.target.probe() }

    /// Checks whether host names can be resolved: whether any name of a source, or a name of
    /// `PreparerConfiguration.resolverProbes`, is answered.
    ///
    /// - Throws: `download.dns` when none is. Never without such names: then a host without name servers cannot be told
    ///   from a machine without them.
    public func probeResolver() async throws { try await dependencies.resolver.probe() }

    /// Closes connections and ends media processes; call it once, when no request is running.
    public func shutdown() async {
        await dependencies.target.shutdown()
        await dependencies.downloader.shutdown()
        await pool?.shutdown()
    }

    // MARK: Prepare

    /// Prepares one request; a failure returns a manifest with the outcome `rejected` and the error.
    public func prepare(_ request: AttachmentRequest) async -> Manifest {
        switch await prepare(PreparationTask(request)) {
        case .ended(let manifest, _): return manifest
        case .unchanged: preconditionFailure("unchanged without validators in the request")
        case .unpublished: preconditionFailure("unpublished in a task that does not keep results")
        }
    }

    /// Prepares one request with its context, such as a job's; a failure returns a manifest with the error.
    public func prepare(_ task: PreparationTask) async -> PreparationResult {
        switch begin(task) {
        case .failure(let manifest): return .ended(manifest, nil)
        case .success(let preparation): return await preparation.traced()
        }
    }

    /// Counters since the start.
    public var statistics: PreparerStatistics {
        var statistics = PreparerStatistics(
            downloadedBytes: dependencies.downloader.receivedBytes,
            replacements: pool?.replacements ?? MediaProcessReplacements(),
            abandonedLoops: dependencies.downloader.abandonedLoops)
        statistics.failures = pool?.failures ?? [:]
        statistics.quarantine = dependencies.quarantine.counts
        return statistics
    }

    /// The resources that the media processes use; zero with another engine.
    public var mediaProcessUsage: MediaProcessUsage { pool?.usage ?? MediaProcessUsage() }

    /// The manifest of an earlier run if its result still exists and matches the request; otherwise nil.
    ///
    /// The publish target is queried, so a result that was removed there is not returned.
    public func finished(_ request: AttachmentRequest) async -> Manifest? {
        // A secret is never used for a second result.
        guard !request.seal, case .success(let preparation) = begin(PreparationTask(request)),
            let manifest = await dependencies.target.publishedManifest(preparation.identity.id),
            manifest.requestDigest == preparation.identity.digest
        else { return nil }
        // Results that were published in another layout keep it: their files are nowhere else.
        return dependencies.target.keepsFolders
            ? manifest : manifest.located(at: dependencies.target, layout: manifest.layout)
    }

    /// Whether a published result still exists with the same files at the same URLs.
    public func isStillPublished(_ manifest: Manifest) async -> Bool {
        let target = dependencies.target
        guard !target.keepsFolders else { return manifest.attachment?.url == nil }
        guard manifest == manifest.located(at: target, layout: manifest.layout),
            let published = await target.publishedManifest(manifest.id)
        else { return false }
        return published.requestDigest == manifest.requestDigest && published.digests == manifest.digests
    }

    /// The result whose files are kept in a folder (`UnpublishedResult.keep`); nil when they are not intact, or when
    /// results are now published elsewhere.
    public func unpublished(
        _ manifest: Manifest, freshness: SourceFreshness?, in folder: String
    ) async -> UnpublishedResult? {
        let (target, output) = (dependencies.target, configuration.output)
        guard !target.keepsFolders, manifest == manifest.located(at: target, layout: manifest.layout) else {
            return nil
        }
        let staging = try? await dependencies.blocking.run {
            try StagingFolder(output: output, linking: manifest.publishedFiles, in: folder)
        }
        return staging.map { UnpublishedResult(manifest, freshness: freshness, in: $0, folder: nil, dependencies) }
    }

    private enum Beginning {
        case success(PreparationPipeline)
        case failure(Manifest)
    }

    private func begin(_ task: PreparationTask) -> Beginning {
        var request = task.request
        do {
            try request.validate()
            if request.avatar != nil { request.targets.insert(.avatar) }
            try request.targets.resolve(profiles: configuration.targetProfiles)
            let location =
                try task.localFile.map { .file($0) }
                ?? SourceLocation(request.source, allowsFiles: configuration.allowsLocalFiles)
            let identity = try RequestIdentity(request, localState: location.localState())
            var preparation = PreparationPipeline(
                request: request, identity: identity, location: location,
                dependencies: dependencies.sharing(task.share),
                output: configuration.output, logger: task.logger ?? logger)
            preparation.folder = task.folder
            preparation.avatar = request.avatar.map { avatar in
                Result { try SourceLocation(avatar, allowsFiles: configuration.allowsLocalFiles) }
            }
            preparation.onFiles = task.onFiles
            preparation.validators = task.validators
            preparation.keepsUnpublished = task.keepsUnpublished
            return .success(preparation)
        } catch {
            return .failure(Manifest(rejecting: request, error))
        }
    }

    // MARK: Inspect

    /// Reports what a source is, whether iOS would accept it, and what would be done; no file is written.
    ///
    /// An image is decoded completely, so that damage anywhere in it is reported.
    public func inspect(_ request: AttachmentRequest) async -> InspectionReport {
        do {
            var request = request
            try request.validate()
            try request.targets.resolve(profiles: configuration.targetProfiles)
            let location = try SourceLocation(request.source, allowsFiles: configuration.allowsLocalFiles)
            return await SourceInspection(
                request: request, location: location, dependencies: dependencies, logger: logger
            ).run()
        } catch {
            return InspectionReport(rejecting: request.source, error)
        }
    }

    /// Tests each sandbox layer of the media process on this machine by attempting to bypass it.
    ///
    /// - Throws: `internal` when `attachprep-media` is missing or cannot be started.
    public static func checkSandbox(mediaExecutable: String? = nil) async throws -> [SandboxCheckResult] {
        try await SandboxCheck(executable: mediaExecutable ?? MediaExecutable.locate()).run()
    }

    /// Libraries, versions and formats of the media engine.
    public func describe() async throws -> EngineDescription {
        try await dependencies.engine.describe(deadline: .now + .seconds(Limits.mediaProcessStartSecondsMax))
    }
}

extension Manifest {
    fileprivate var digests: [String: String] {
        Dictionary(publishedFiles.map { ($0.name, $0.sha256) }) { first, _ in first }
    }
}

extension SourceLocation {
    /// Size and modification time of a local file; nil for a URL or a missing file, which is reported later.
    fileprivate func localState() -> String? {
        guard case .file(let path) = self else { return nil }
        return try? LocalFile(path: path).state
    }
}

/// Files of results for report pages, read on threads that may block.
extension AttachmentPreparer {
    /// The bytes of a file in base64; nil when it cannot be read.
    public func base64(ofFile path: String) async -> String? {
        try? await dependencies.blocking.run { FileManager.default.contents(atPath: path)?.base64EncodedString() }
    }

    /// Renders a smaller preview of a prepared image.
    ///
    /// - Parameters:
    ///   - path: The path of a JPEG or PNG that attachprep wrote.
    ///   - sidePixels: The longest side of the preview in pixels; nothing is enlarged.
    /// - Returns: The type and the bytes of the preview.
    /// - Throws: `source.not_found`, `internal`, and the errors of the media engine.
    public func previewImage(ofFile path: String, sidePixels: Int) async throws -> (
        type: AttachmentType, bytes: [UInt8]
    ) {
        let folder = output
        let files = try await dependencies.blocking.run { try PreviewFiles(source: path, output: folder) }
        var request = RenderRequest(format: path.hasSuffix(".png") ? .png : .jpeg, frameSelection: .still)
        request.thumbnail = ThumbnailRendition(width: sidePixels, height: sidePixels, fit: .contain)
        let (requested, deadline) = (request, ContinuousClock.now + .seconds(Limits.budgetSeconds))
        let rendered = try await dependencies.engine.withSlot(.render) { engine in
            try await engine.render(requested, source: files.source, outputs: [files.made], deadline: deadline)
        }
        guard let image = rendered.thumbnail else {
            throw AttachPrepError(.internal, "The media process wrote no preview image; try again.")
        }
        return (image.type, try await dependencies.blocking.run { try files.bytes(count: image.bytes) })
    }
}

/// The descriptors of an image to read and of an unnamed file for its preview; closed on release.
private final class PreviewFiles: Sendable {
    let source: CInt
    let made: CInt
    private let staging: StagingFolder

    init(source path: String, output: String) throws {
        staging = try StagingFolder(output: output)
        made = try staging.createUnnamed()
        source = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else {
            close(made)
            throw AttachPrepError(.sourceNotFound, "The image does not exist any more; prepare it again.")
        }
    }

    deinit {
        close(source)
        close(made)
    }

    func bytes(count: Int) throws -> [UInt8] {
        // The media process reports the count, and is not trusted.
        guard 0...Limits.imageBytesMax ~= count else {
            throw AttachPrepError(.internal, "The preview image has an invalid length; try again.")
        }
        guard let bytes = try? FileIO.bytes(made, at: 0, count: count), bytes.count == count else {
            throw AttachPrepError(.internal, "The preview image cannot be read; try again.")
        }
        return bytes
    }
}

/// Counters of a preparer since its creation.
public struct PreparerStatistics: Sendable, Hashable {
    /// Body bytes received from servers, including those of failures.
    public var downloadedBytes: Int
    /// Replaced media processes.
    public var replacements: MediaProcessReplacements
    /// Failed media processes by cause; their sum is `replacements.failed`.
    public var failures: [MediaProcessFailure: Int] = [:]
    /// Download threads abandoned because a libcurl call did not return.
    public var abandonedLoops: Int
    /// Strikes and rejections of the quarantine.
    public var quarantine = QuarantineCounts()

    public init(
        downloadedBytes: Int = 0, replacements: MediaProcessReplacements = MediaProcessReplacements(),
        abandonedLoops: Int = 0
    ) {
        self.downloadedBytes = downloadedBytes
        self.replacements = replacements
        self.abandonedLoops = abandonedLoops
    }
}
