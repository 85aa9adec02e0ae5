import SafeArithmetic

/// Whether a pass over an animation will be through in time, by the pace it has had.
struct PassHurry {
    /// Frames after which a pace says something.
    private static let provenFrames = 3

    private let clock: WorkClock
    private let count: Int
    private let start = ContinuousClock.now

    /// - Parameter count: Frames of the whole pass.
    init(clock: WorkClock, count: Int) {
        self.clock = clock
        self.count = count
    }

    // Bounded throughout: floating point, and numbers of frames.

    /// Frames a second after so many.
    func pace(_ number: Int) -> Double { Double(max(1, number)) / max(1e-4, start.duration(to: .now) / .seconds(1)) }

    /// Whether there is no time left at all.
    var isOver: Bool { clock.secondsLeft <= 0 }

    /// Whether the rest takes longer than there is time.
    func isShort(after number: Int) -> Bool {
        isOver || number > Self.provenFrames && Double(count - number) / pace(number) > clock.secondsLeft
    }

    /// Whether the frame whose turn it is is left out: as many of them as time is short.
    func skips(_ turn: Int, after number: Int) -> Bool {
        guard isShort(after: number) else { return false }
        let left = max(1e-3, clock.secondsLeft)
        let needed = Double(count - number) / pace(number)
        return turn % min(64, max(2, Int(clamping: (needed / left).rounded(.up)))) != 0
    }
}
