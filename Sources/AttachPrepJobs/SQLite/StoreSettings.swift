import RichPush

/// Who opens a store.
public enum StoreRole: Sendable, Hashable {
    /// The one service of the folder: a second one is refused.
    case service
    /// A command, which works beside the service and makes no database.
    case command
}

/// What a kept change survives.
public enum StoreDurability: String, Sendable, Hashable, CaseIterable {
    /// The end of the process, however it comes.
    case normal
    /// The end of the machine's power, too.
    case always
}

/// How much a store keeps, and for how long.
public struct StoreLimits: Sendable, Hashable {
    public var queuedJobsMax = Limits.queuedJobsMax
    public var retentionSeconds = Limits.retentionSeconds
    public var deadRetentionSeconds = Limits.deadRetentionSeconds
    public var mediaQuotaBytes = Limits.mediaQuotaBytes
    public var mediaAgeSecondsMin = Limits.mediaAgeSecondsMin
    public var uploadSecondsMax = Limits.uploadSecondsMax
    /// How long a file that no row knows is kept after it was found: a day to notice that the database is not the one
    /// that belongs to the folder, and to put it back.
    public var unknownFileSeconds = 86_400.0
    public var dispatchSeconds = Limits.dispatchSeconds
    public var campaignSeconds = Limits.campaignSeconds

    public init() {}
}
