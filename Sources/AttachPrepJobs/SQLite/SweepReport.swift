import SafeArithmetic
import Synchronization

/// What a round of housekeeping removed.
public struct SweepReport: Sendable, Hashable {
    /// Finished jobs whose time was over.
    public var jobs = 0
    public var idempotencyKeys = 0
    /// Receipts of payloads that are too old to be counted.
    public var receipts = 0
    /// Campaigns that nobody used for long.
    public var campaigns = 0
    public var uploads = 0
    public var results = 0
    /// Files of results and uploads, those included that a crash left behind.
    public var files = 0
    /// Files that no row knows and that are kept for now; counted in rounds that walk the folders, 0 in others.
    public var unknownFiles = 0
    /// Decimal bytes of the files that were removed.
    public var bytes = 0
    /// Decimal bytes of all files that are left.
    public var mediaBytes = 0
    /// Whether that is over the quota: the rest is younger than it has to be, or still needed.
    public var isOverQuota = false

    public init() {}

    mutating func add(_ other: SweepReport) {
        jobs = jobs.adding(clamping: other.jobs)
        idempotencyKeys = idempotencyKeys.adding(clamping: other.idempotencyKeys)
        receipts = receipts.adding(clamping: other.receipts)
        campaigns = campaigns.adding(clamping: other.campaigns)
        uploads = uploads.adding(clamping: other.uploads)
        results = results.adding(clamping: other.results)
        files = files.adding(clamping: other.files)
        unknownFiles = unknownFiles.adding(clamping: other.unknownFiles)
        bytes = bytes.adding(clamping: other.bytes)
    }
}

/// How far housekeeping is in what it does not do as a whole each time.
final class SweepRounds: Sendable {
    private struct State {
        var count = 0
        var lastResult: ResultPlace?
    }

    /// Folders are walked with the first round and then once an hour: what lies there unnamed is left by a crash.
    private static let walkEvery = 60

    private let state = Mutex(State())

    /// - Returns: whether folders are walked in this round.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.count += 1 }
            return state.count % Self.walkEvery == 0
        }
    }

    /// After which result to go on looking; nil begins anew.
    var lastResult: ResultPlace? {
        get { state.withLock { $0.lastResult } }
        set { state.withLock { $0.lastResult = newValue } }
    }
}

/// The place of a result among all of them by their last use.
struct ResultPlace: Sendable, Hashable {
    var usedAt: Int64
    var media: String
}
