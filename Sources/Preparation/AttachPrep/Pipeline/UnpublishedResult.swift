public import AttachPrepModel
import FoundationEssentials

/// A result that is rendered, and whose target could not be reached when it was published.
///
/// Its files stay on this machine until `discard`, so that it can be published later without a second download.
public struct UnpublishedResult: Sendable {
    /// The manifest, without the time that publishing takes.
    public let manifest: Manifest
    /// The freshness that the source's server declared.
    public let freshness: SourceFreshness?
    /// Total size of its files in bytes.
    public var bytes: Int { manifest.filesBytes }

    private let publishing: @Sendable (Manifest, ContinuousClock.Instant) async throws -> Manifest
    private let linking: @Sendable (String) async throws -> Void
    private let removal: @Sendable () -> Void

    /// - Parameters:
    ///   - publish: publishes the manifest with its files until a time, and returns what was published.
    ///   - link: gives the files a second name in a folder, which is created.
    ///   - discard: removes the files from this machine, but not their second names.
    package init(
        _ manifest: Manifest, _ freshness: SourceFreshness? = nil,
        publish: @escaping @Sendable (Manifest, ContinuousClock.Instant) async throws -> Manifest,
        link: @escaping @Sendable (String) async throws -> Void = { _ in },
        discard: @escaping @Sendable () -> Void
    ) {
        (self.manifest, self.freshness) = (manifest, freshness)
        (publishing, linking, removal) = (publish, link, discard)
    }

    /// Publishes the result, which may be called again after an error.
    ///
    /// - Throws: The errors of the publish target: `publish.…`, `output.…`, `deadline.exceeded`, `cancelled`.
    public func publish(before deadline: ContinuousClock.Instant) async throws -> Manifest {
        let began = ContinuousClock.now
        var manifest = try await publishing(manifest, deadline)
        manifest.timings.publish = began.duration(to: .now).milliseconds
        manifest.timings.total = self.manifest.timings.total + manifest.timings.publish
        manifest.timings.round()
        return manifest
    }

    /// Keeps the files in a folder, where a later process finds them (`AttachmentPreparer.unpublished`).
    ///
    /// - Throws: `output.not_writable`, `output.no_space`.
    public func keep(in folder: String) async throws { try await linking(folder) }

    /// Removes the files from this machine, but not those of `keep`.
    public func discard() { removal() }
}

extension UnpublishedResult {
    /// A result whose files are in a staging folder.
    ///
    /// - Parameter folder: the name of the result's folder, for targets that store folders.
    init(
        _ manifest: Manifest, freshness: SourceFreshness?, in staging: StagingFolder, folder: String?,
        _ dependencies: PipelineDependencies
    ) {
        let target = dependencies.target
        self.init(manifest, freshness) { manifest, deadline in
            let result = FinishedResult(manifest: manifest, staging: staging, folder: folder, deadline: deadline)
            try await target.publishFiles(result)
            // Left by an attempt that ended while the manifest was sent.
            try staging.remove(Manifest.fileName)
            try await target.complete(result)
            return manifest
        } link: { folder in
            try await dependencies.blocking.run { try staging.link(manifest.files.map(\.name), into: folder) }
        } discard: {
            staging.discard()
        }
    }
}

/// Ends the pipeline with a result that could not be published.
struct UnpublishedResultError: Error {
    let result: UnpublishedResult
    let error: AttachPrepError

    /// Whether publishing may succeed later with the same files.
    static func isTemporary(_ error: AttachPrepError) -> Bool {
        switch error.code {
        case .publishUnavailable, .publishNotFound, .publishDenied, .deadlineExceeded: true
        default: false
        }
    }
}
