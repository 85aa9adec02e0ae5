import RichPush

/// The time that decoding may take to prove a file sound.
// Bounded throughout: floating point.
final class ProofBudget {
    private struct Spent: Error {}

    private let seconds: Double
    private var spentSeconds = 0.0
    private var start = ContinuousClock.now
    /// Whether a proof was left unfinished for want of time.
    private(set) var isSpent = false

    init(seconds: Double) { self.seconds = seconds }

    convenience init(_ clock: WorkClock) {
        let share = clock.share(Limits.proofTimeShare)
        self.init(seconds: share.start.duration(to: share.deadline) / .seconds(1))
    }

    /// Does a part of a proof, or leaves it where there is no time.
    func spend(_ body: () throws -> Void) throws {
        if isSpent { return }
        start = .now
        defer { spentSeconds += start.duration(to: .now) / .seconds(1) }
        do { try body() } catch is Spent { isSpent = true }
    }

    /// Leaves the part of a proof that is being done, once the time is spent.
    func check() throws {
        if secondsSpent > seconds { throw Spent() }
    }

    /// Whether so little is left that nothing should be done but proofs.
    var isHalfSpent: Bool { secondsSpent > seconds / 2 }

    private var secondsSpent: Double { spentSeconds + start.duration(to: .now) / .seconds(1) }
}
