/// All that a worker and a service keep.
public typealias JobStore = JobQueue & JobCatalogue & ResultStore & WebhookOutbox & UploadStore

/// What keeps a store in order, in the process that has opened it.
public protocol StoreKeeping: Sendable {
    /// Removes what is too old and what nobody needs; to be called at start and then every minute.
    ///
    /// - Throws: `queue.unavailable`; what was removed until then stays removed, and the next round goes on.
    func sweep() async throws -> SweepReport

    /// Whether nothing is taken in, because files take all the room they may.
    var isFull: Bool { get }

    /// Why it does not answer now, in a sentence; nil when it does, as far as is known without asking.
    var fault: String? { get }

    /// Claims so far that were refused because a job had another revision than was heard.
    var refusedClaims: Int { get }

    /// Ends all work with it; what comes afterwards fails with `queue.unavailable`.
    func close() async
}

extension StoreKeeping {
    /// None, where what is heard and what is claimed are the same.
    public var refusedClaims: Int { 0 }
}
