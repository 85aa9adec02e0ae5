import AttachPrepJobs
import AttachPrepModel
import MediaTypes
import SafeArithmetic
import Synchronization

/// The bytes of uploads that are being received, which count like stored ones.
///
/// They change only in transactions of this process, which run one after the other, or become less.
final class UploadReservations: Sendable {
    private let reserved = Mutex<[MediaID: (owner: String, bytes: Int)]>([:])

    func remove(_ id: MediaID) { reserved.withLock { _ = $0.removeValue(forKey: id) } }

    /// Reserves bytes for an upload, in place of what it has reserved so far.
    ///
    /// - Throws: `output.no_space`.
    func reserve(_ bytes: Int, for id: MediaID, owner: String, limits: StoreLimits, on connection: any SQLConnection)
        throws
    {
        let row = try connection.row(
            """
            SELECT coalesce(sum(bytes), 0), coalesce(sum(CASE owner WHEN $1 THEN bytes ELSE 0 END), 0) FROM upload
            """, [.text(owner)])
        let stored: (all: Int, own: Int) = (row?[0] ?? 0, row?[1] ?? 0)
        try reserved.withLock { reserved in
            let others = reserved.filter { $0.key != id }.values
            let all = Self.sum(of: others.map(\.bytes), and: [stored.all, bytes])
            let own = Self.sum(of: others.filter { $0.owner == owner }.map(\.bytes), and: [stored.own, bytes])
            guard own <= limits.uploadBytesPerCallerMax else {
                throw Self.full("Your uploads", bytes: own, limit: limits.uploadBytesPerCallerMax)
            }
            guard all <= limits.uploadBytesMax else {
                throw Self.full("All uploads", bytes: all, limit: limits.uploadBytesMax)
            }
            reserved[id] = (owner, bytes)
        }
    }

    private static func sum(of reserved: [Int], and others: [Int]) -> Int {
        [reserved, others].joined().reduce(0) { $0.adding(clamping: $1) }
    }

    private static func full(_ what: String, bytes: Int, limit: Int) -> AttachPrepError {
        AttachPrepError(
            .outputNoSpace,
            "\(what) would take \(bytes) bytes, over the limit of \(limit); wait until earlier ones have expired, or "
                + "ask the service's operator to raise the quota.")
    }
}
