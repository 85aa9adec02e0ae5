/// What a preparer did since it was made.
public struct PreparerStatistics: Sendable, Hashable {
    /// Bytes of bodies that came from servers, those of failures included.
    public var downloadedBytes: Int
    /// Media children that others took the place of.
    public var children: ChildReplacements
    /// Download threads that were abandoned because libcurl did not come back from a call.
    public var abandonedLoops: Int

    public init(
        downloadedBytes: Int = 0, children: ChildReplacements = ChildReplacements(), abandonedLoops: Int = 0
    ) {
        self.downloadedBytes = downloadedBytes
        self.children = children
        self.abandonedLoops = abandonedLoops
    }
}

/// How often a media child was replaced.
public struct ChildReplacements: Sendable, Hashable {
    /// Because it crashed, passed a limit, or was killed with the request that it worked for.
    public var failed: Int
    /// In good order: by age, calls or memory.
    public var recycled: Int

    public init(failed: Int = 0, recycled: Int = 0) {
        self.failed = failed
        self.recycled = recycled
    }
}
