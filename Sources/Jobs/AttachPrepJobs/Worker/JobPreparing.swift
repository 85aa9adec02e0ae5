public import AttachPrep
public import AttachPrepModel

/// Prepares the attachment of a job; implemented by `AttachmentPreparer` and by test doubles.
public protocol JobPreparing: Sendable {
    /// The folder in which result folders are created.
    var output: String { get }

    /// Counters since the start.
    var statistics: PreparerStatistics { get }

    /// Prepares one source.
    func prepare(_ task: PreparationTask) async -> PreparationResult

    /// Whether results are folders in `output`; false when they exist only where they were published.
    var keepsFolders: Bool { get }

    /// Whether the published files of a result still exist.
    func isStillPublished(_ manifest: Manifest) async -> Bool

    /// The result whose files an earlier process kept in a folder; nil when it cannot be published.
    func unpublished(
        _ manifest: Manifest, freshness: SourceFreshness?, in folder: String
    ) async -> UnpublishedResult?

    /// Checks whether a dependency with a probe is there.
    ///
    /// - Throws: The error that jobs would fail with.
    func probe(_ dependency: Dependency) async throws
}

extension JobPreparing {
    /// True for preparers that do not publish elsewhere.
    public var keepsFolders: Bool { true }

    /// True for preparers that do not publish elsewhere.
    public func isStillPublished(_ manifest: Manifest) async -> Bool { true }

    /// Nil for preparers that keep none.
    public func unpublished(
        _ manifest: Manifest, freshness: SourceFreshness?, in folder: String
    ) async -> UnpublishedResult? { nil }

    /// Nothing is away for preparers without dependencies.
    public func probe(_ dependency: Dependency) async throws {}
}

extension AttachmentPreparer: JobPreparing {
    public func probe(_ dependency: Dependency) async throws {
        switch dependency {
        case .bucket, .signingKey: try await probeTarget()
        case .resolver: try await probeResolver()
        case .disk, .database, .queueKey: break
        }
    }
}
