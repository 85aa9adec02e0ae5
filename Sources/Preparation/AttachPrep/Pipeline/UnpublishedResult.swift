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
    public var bytes: Int {
        [manifest.attachment?.bytes, manifest.thumbnail?.bytes, manifest.crop?.bytes].compactMap(\.self).reduce(0, +)
    }

    private let publishing: @Sendable (Manifest, ContinuousClock.Instant) async throws -> Manifest
    private let removal: @Sendable () -> Void

    /// - Parameters:
    ///   - publish: publishes the manifest with its files until a time, and returns what was published.
    ///   - discard: removes the files from this machine.
    package init(
        _ manifest: Manifest, _ freshness: SourceFreshness? = nil,
        publish: @escaping @Sendable (Manifest, ContinuousClock.Instant) async throws -> Manifest,
        discard: @escaping @Sendable () -> Void
    ) {
        (self.manifest, self.freshness) = (manifest, freshness)
        (publishing, removal) = (publish, discard)
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

    /// Removes the files from this machine.
    public func discard() { removal() }
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
