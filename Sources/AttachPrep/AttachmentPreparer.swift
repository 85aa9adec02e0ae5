import Glibc
public import Logging
public import MediaEngine
public import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns media URLs into folders that are ready to attach: the library's front door.
///
/// ```swift
/// let preparer = try AttachmentPreparer(PreparerConfiguration(output: "prepared"))
/// let manifest = await preparer.prepare(AttachmentRequest(source: "https://cdn.example/cat.webp"))
/// ```
///
/// Requests may be prepared side by side; downloads and media work have limits of their own.
public final class AttachmentPreparer: Sendable {
    private let configuration: PreparerConfiguration
    let rooms: PipelineRooms
    private let pool: MediaPool?
    private let logger: Logger

    /// Starts the media children that will be wanted, whose libraries then load while the first downloads run.
    ///
    /// - Parameter engine: media work in another place than the pool of children, for tests and for who asks for it.
    /// - Throws: `request.invalid` for a configuration that cannot be read, `internal` when `attachprep-media` is
    ///   missing.
    public init(
        _ configuration: PreparerConfiguration, engine: (any MediaEngine)? = nil,
        logger: Logger = Logger(label: "attachprep")
    ) throws {
        self.configuration = configuration
        self.logger = logger
        if let engine {
            pool = nil
            rooms = try PipelineRooms(engine: engine, configuration: configuration, logger: logger)
        } else {
            let pool = try MediaPool(
                executable: configuration.mediaExecutable ?? MediaExecutable.locate(),
                mediaSlots: configuration.mediaSlots, requiresSandbox: configuration.requiresSandbox,
                niceness: configuration.mediaNiceness)
            pool.warmUp(requests: configuration.requestsExpected)
            self.pool = pool
            rooms = try PipelineRooms(engine: pool, configuration: configuration, logger: logger)
        }
        StagingFolder.sweep(output: configuration.output)
    }

    /// The folder in which results are made, and appear where they stay on this machine.
    public var output: String { configuration.output }

    /// Whether a result is a folder in `output` in the end; else it is where it was published to alone.
    public var keepsFolders: Bool { rooms.target.keepsFolders }

    /// An address as files of results have it where they are published to; nil where they are folders in `output`.
    public var publishedURL: String? {
        keepsFolders ? nil : rooms.target.url(of: Manifest.fileName, in: "attachprep")
    }

    /// How publishing went last; nil before it was tried.
    public var publishStanding: PublishStanding? { rooms.target.standing }

    /// Tries whether results could be published now.
    ///
    /// - Throws: what they would fail with: `publish.…`.
    public func probeTarget() async throws { try await rooms.target.probe() }

    /// Ends connections and children; call it once, when no request is under way.
    public func shutdown() async {
        await rooms.target.shutdown()
        await rooms.downloader.shutdown()
        await pool?.shutdown()
    }

    // MARK: Prepare

    /// Prepares one request; a failure is a manifest as well, with the outcome `rejected` and its error.
    public func prepare(_ request: AttachmentRequest) async -> Manifest {
        switch await carryOut(PreparationOrder(request)) {
        case .ended(let manifest, _): return manifest
        case .unchanged: preconditionFailure("nobody asked whether anything has changed")
        }
    }

    /// Prepares one request as a job's surroundings want it; a failure is a manifest as well.
    public func carryOut(_ order: PreparationOrder) async -> PreparationEnd {
        switch begin(order) {
        case .failure(let manifest): return .ended(manifest, nil)
        case .success(let preparation): return await preparation.run()
        }
    }

    /// What happened since the start.
    public var statistics: PreparerStatistics {
        PreparerStatistics(
            downloadedBytes: rooms.downloader.receivedBytes, children: pool?.replacements ?? ChildReplacements(),
            abandonedLoops: rooms.downloader.abandonedLoops)
    }

    /// The manifest of an earlier run whose result still stands and is still what is asked for, or nil.
    ///
    /// Where it was published to is asked: whoever has removed it there, it is gone.
    public func finished(_ request: AttachmentRequest) async -> Manifest? {
        guard case .success(let preparation) = begin(PreparationOrder(request)),
            let manifest = await rooms.target.standing(preparation.identity.id),
            manifest.requestDigest == preparation.identity.digest
        else { return nil }
        return rooms.target.keepsFolders ? manifest : manifest.located(at: rooms.target)
    }

    /// Whether a result that was published stands where it was: the same files at the same addresses.
    public func stands(_ manifest: Manifest) async -> Bool {
        let target = rooms.target
        guard !target.keepsFolders else { return manifest.attachment?.url == nil }
        guard manifest == manifest.located(at: target), let standing = await target.standing(manifest.id) else {
            return false
        }
        return standing.requestDigest == manifest.requestDigest && standing.digests == manifest.digests
    }

    private enum Beginning {
        case success(Preparation)
        case failure(Manifest)
    }

    private func begin(_ order: PreparationOrder) -> Beginning {
        let request = order.request
        do {
            try request.validate()
            let location =
                try order.localFile.map { .file($0) }
                ?? SourceLocation(request.source, allowsFiles: configuration.allowsLocalFiles)
            let identity = try RequestIdentity(request, localState: location.localState())
            var preparation = Preparation(
                request: request, identity: identity, location: location, rooms: rooms,
                output: configuration.output, logger: order.logger ?? logger)
            preparation.folder = order.folder
            preparation.onFiles = order.onFiles
            preparation.validators = order.validators
            return .success(preparation)
        } catch {
            return .failure(Manifest(refusing: request, error))
        }
    }

    // MARK: Inspect

    /// What a source is, whether iOS would take it, and what would be done; nothing is delivered.
    ///
    /// A still is decoded to its end here, so that the answer holds.
    public func inspect(_ request: AttachmentRequest) async -> InspectionReport {
        do {
            try request.validate()
            let location = try SourceLocation(request.source, allowsFiles: configuration.allowsLocalFiles)
            return await SourceInspection(
                request: request, location: location, rooms: rooms, logger: logger
            ).run()
        } catch {
            return InspectionReport(refusing: request.source, error)
        }
    }

    /// Which walls around the media process hold on this machine, by trying to get through each of them.
    ///
    /// - Throws: `internal` when `attachprep-media` is missing or cannot be started.
    public static func examineWalls(mediaExecutable: String? = nil) async throws -> [WallFinding] {
        try await WallExamination(executable: mediaExecutable ?? MediaExecutable.locate()).run()
    }

    /// Libraries, versions and formats of the media engine.
    public func describe() async throws -> EngineDescription {
        try await rooms.engine.describe(deadline: .now + .seconds(Limits.childStartSecondsMax))
    }
}

extension Manifest {
    /// With the addresses that its files have there now.
    fileprivate func located(at target: any PublishTarget) -> Manifest {
        var manifest = self
        if let attachment { manifest.attachment?.url = target.url(of: attachment.file, in: id) }
        if let thumbnail { manifest.thumbnail?.url = target.url(of: thumbnail.file, in: id) }
        if let crop { manifest.crop?.url = target.url(of: crop.file, in: id) }
        return manifest
    }

    fileprivate var digests: [String?] { [attachment?.sha256, thumbnail?.sha256, crop?.sha256] }
}

extension SourceLocation {
    /// Size and time of a local file, nil for a URL; a file that is not there is found out later.
    fileprivate func localState() -> String? {
        guard case .file(let path) = self else { return nil }
        return try? LocalFile(path: path).state
    }
}
