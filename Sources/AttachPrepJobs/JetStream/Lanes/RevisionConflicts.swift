import AttachPrep
import SafeArithmetic
import Synchronization

/// What follows from a claim that the servers refused because the job has another revision than was named: pure.
struct ConflictDecision: Sendable, Hashable {
    /// The job's message is given again after that: longer each time, so that a job that nobody can claim costs little.
    let pauseMilliseconds: Int64
    /// Whether the next claim names the revision that the stream's leader has, and not the one that was heard.
    let readsLeader: Bool
    /// Once in an episode.
    let isLogged: Bool

    /// A job may be taken by another machine, given back and taken again while we look: so often that is likely.
    private static let usualCountMax = 2
    /// As long as a job is looked at again whose change may be heard of at any time.
    private static let pauseMillisecondsMin: Int64 = 100
    /// Shorter than a lease, and than `ClaimStall` takes for recent.
    private static let pauseMillisecondsMax: Int64 = 10_000

    /// - Parameter count: refusals of the same job one after the other, this one included.
    init(count: Int) {
        let doublings = min(max(0, count.subtracting(clamping: 1)), 7)
        // Bounded: at most 128 times a tenth of a second.
        pauseMilliseconds = min(Self.pauseMillisecondsMin << Int64(doublings), Self.pauseMillisecondsMax)
        readsLeader = count > Self.usualCountMax
        isLogged = count == Self.usualCountMax.adding(clamping: 1)
    }
}

/// Whether claims are refused while nothing moves: pure.
struct ClaimStall: Sendable, Hashable {
    /// The first and the last refusal since a job of this machine's moved.
    private var first: Int64?
    private var last: Int64?

    /// Two leases: a cluster without a leader has one again after some seconds, and a job of a worker that is gone is
    /// given to another one after a lease.
    static let stallSeconds: Int64 = 30
    /// Without a refusal for so long, nobody tries any longer: other jobs, or none, are there now.
    static let recentSeconds: Int64 = 20

    mutating func refused(at steady: Int64) {
        first = first ?? steady
        last = steady
    }

    mutating func moved() { (first, last) = (nil, nil) }

    func isStalled(at steady: Int64) -> Bool {
        guard let first, let last else { return false }
        return last.subtracting(clamping: first) >= Self.stallSeconds.multiplied(clamping: 1000)
            && steady.subtracting(clamping: last) < Self.recentSeconds.multiplied(clamping: 1000)
    }
}

/// Claims of this machine that the servers refused, job by job.
final class RevisionConflicts: Sendable {
    private struct State {
        var counts: [JobID: Int] = [:]
        var total = 0
        var stall = ClaimStall()
    }

    private let state = Mutex(State())

    /// Jobs that are remembered; one that is forgotten is counted anew.
    private static let jobsMax = 10_000

    func refused(_ job: JobID, at steady: Int64) -> ConflictDecision {
        state.withLock { state in
            if state.counts.count >= Self.jobsMax, state.counts[job] == nil { state.counts = [:] }
            let count = (state.counts[job] ?? 0).adding(clamping: 1)
            state.counts[job] = count
            state.total = state.total.adding(clamping: 1)
            state.stall.refused(at: steady)
            return ConflictDecision(count: count)
        }
    }

    /// A job of this machine's was claimed or ended.
    func moved(_ job: JobID) {
        state.withLock { state in
            state.counts[job] = nil
            state.stall.moved()
        }
    }

    /// Somebody else has the job, or it is over.
    func forget(_ job: JobID) { state.withLock { $0.counts[job] = nil } }

    /// Whether a job is to be read from the leader before it is claimed again.
    func readsLeader(_ job: JobID) -> Bool {
        state.withLock { $0.counts[job] }.map { ConflictDecision(count: $0).readsLeader } ?? false
    }

    /// All since the start.
    var total: Int { state.withLock { $0.total } }

    func isStalled(at steady: Int64) -> Bool { state.withLock { $0.stall.isStalled(at: steady) } }
}
