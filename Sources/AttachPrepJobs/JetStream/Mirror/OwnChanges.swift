import NATS
import Synchronization

/// Our own changes, which the mirror took in when they were kept: what the bucket says of them is no news.
final class OwnChanges: Sendable {
    /// More of them than are ever on their way back.
    private static let countMax = 20_000

    private let revisions = Mutex<Set<UInt64>>([])

    /// - Parameter heardUntil: what came up to there does not come again.
    func add(_ new: [UInt64], heardUntil: UInt64) {
        revisions.withLock { revisions in
            revisions.formUnion(new.lazy.filter { $0 > heardUntil })
            guard revisions.count > Self.countMax else { return }
            revisions = revisions.filter { $0 > heardUntil }
        }
    }

    /// What others have changed; each of our own is heard of once.
    func others(_ entries: [KeyValueEntry]) -> [KeyValueEntry] {
        revisions.withLock { revisions in
            if revisions.isEmpty { return entries }
            return entries.filter { revisions.remove($0.revision) == nil }
        }
    }

    /// They come as news then, should they not be there.
    func forgetAll() { revisions.withLock { $0 = [] } }
}
