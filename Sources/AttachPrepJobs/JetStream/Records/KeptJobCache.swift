import Synchronization

/// Jobs as they were written or read lately: the same bytes are not decoded a second time.
///
/// A change of ours comes back from the servers, and is looked at when its job is claimed; decoding was a tenth of what
/// a job costs.
final class KeptJobCache: Sendable {
    /// Of each of the two generations: more than are ever on their way at once. One takes about 5 KB.
    private static let countMax = 1_024

    private struct Entry {
        var bytes: [UInt8]
        var job: KeptJob
    }

    private struct State {
        var young: [String: Entry] = [:]
        var old: [String: Entry] = [:]
    }

    private let state = Mutex(State())

    /// What the servers are given.
    func bytes(of job: KeptJob) throws -> [UInt8] {
        let bytes = try job.bytes()
        keep(Entry(bytes: bytes, job: job))
        return bytes
    }

    /// - Throws: `queue.unavailable` for a value that none of our versions wrote.
    func job(_ id: String, _ bytes: [UInt8]) throws -> KeptJob {
        if let entry = state.withLock({ $0.young[id] ?? $0.old[id] }), entry.bytes == bytes { return entry.job }
        let job = try KeptJob(bytes)
        keep(Entry(bytes: bytes, job: job))
        return job
    }

    private func keep(_ entry: Entry) {
        state.withLock { state in
            state.young[entry.job.id] = entry
            guard state.young.count >= Self.countMax else { return }
            (state.old, state.young) = (state.young, [:])
        }
    }
}
