import Synchronization

/// Our own changes on their way to the servers and back: what is heard of them is ours, and need not be decoded.
final class OwnChanges: Sendable {
    /// Of each of the two generations: more than are ever on their way at once, but for large batches, of which more
    /// is decoded. One takes about 5 KB.
    private static let countMax = 1_024

    private struct Change {
        var bytes: [UInt8]
        var job: KeptJob
    }

    private struct State {
        var young: [String: Change] = [:]
        var old: [String: Change] = [:]
    }

    private let state = Mutex(State())

    /// What the servers are given.
    func bytes(of job: KeptJob) throws -> [UInt8] {
        let change = Change(bytes: try job.bytes(), job: job)
        state.withLock { state in
            state.young[job.id] = change
            guard state.young.count >= Self.countMax else { return }
            (state.old, state.young) = (state.young, [:])
        }
        return change.bytes
    }

    /// The job of these bytes, when they are the last that we sent of it.
    func job(_ id: String, _ bytes: [UInt8]) -> KeptJob? {
        let change = state.withLock { $0.young[id] ?? $0.old[id] }
        return change.flatMap { $0.bytes == bytes ? $0.job : nil }
    }
}
