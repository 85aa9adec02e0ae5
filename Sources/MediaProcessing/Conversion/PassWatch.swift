/// Whether an encoding keeps up with the time there is.
// Bounded throughout: floating point.
struct PassWatch: Sendable {
    enum Finding: Sendable, Hashable {
        case fine
        /// It will not be through in time, by so many times.
        case behind(Double)
        /// It has to end now, to be a whole file in time.
        case late
    }

    /// Part of an encoding after which its pace says something, and after which beginning anew is no gain.
    private static let earliest = 0.04
    private static let latest = 0.35
    /// Seconds it has to run before its pace says something.
    private static let secondsMin = 0.4
    /// Seconds for the index, the answer, and a machine that is busy with other things.
    private static let reserve = 0.15
    /// How many times longer than measured the pictures may take that the encoder still holds.
    private static let caution = 2.0
    /// How far behind a plan may be before it is given up.
    private static let patience = 1.08

    private let clock: WorkClock
    private let start: Double
    /// Seconds the movie lasts.
    private let end: Double
    private let canRestart: Bool
    /// Seconds that encoding one picture takes.
    private let secondsPerPicture: Double

    init(_ clock: WorkClock, end: Double, secondsPerPicture: Double, canRestart: Bool) {
        self.secondsPerPicture = secondsPerPicture
        self.clock = clock
        self.end = end
        self.canRestart = canRestart
        start = clock.secondsSpent
    }

    func look(at writer: PictureWriter, time: Double) -> Finding {
        let spent = clock.secondsSpent - start
        let left = clock.secondsLeft
        let pace = min(secondsPerPicture * Self.caution, spent / Double(max(1, writer.framesSent)))
        let held = Double(writer.framesSent - writer.framesWritten)
        if left < Self.reserve + held * pace { return .late }
        let share = end > 0 ? time / end : 1
        guard canRestart, spent > Self.secondsMin, (Self.earliest...Self.latest).contains(share) else { return .fine }
        let rest = spent / share - spent
        return rest > left * Self.patience ? .behind(rest / left) : .fine
    }
}
