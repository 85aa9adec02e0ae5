/// Whether a pass over an animation will be through in time, by the pace it has had.
struct PassHurry {
    private let clock: WorkClock
    private let count: Int
    private let start = ContinuousClock.now
    private let secondsAtStart: Double

    /// - Parameter count: Frames of the whole pass.
    init(clock: WorkClock, count: Int) {
        self.clock = clock
        self.count = count
        secondsAtStart = clock.secondsLeft
    }

    /// Frames a second so far.
    func pace(_ number: Int) -> Double { Double(number + 1) / max(1e-4, start.duration(to: .now) / .seconds(1)) }

    /// Whether the rest takes far longer than there is time.
    func isHopeless(_ number: Int) -> Bool {
        number > 3 && Double(count - number - 1) / pace(number) > clock.secondsLeft
    }

    /// Whether this frame is left out: as many of them as time is short.
    func skips(_ number: Int) -> Bool {
        let left = clock.secondsLeft
        if left <= 0 { return true }
        let needed = Double(count - number) / pace(number)
        guard needed > left else { return false }
        let every = min(64, max(2, Int((needed / left).rounded(.up))))
        return number % every != 0
    }
}
