/// The step of which a sample says that it fits.
struct SampleChoice {
    let sample: FrameSample
    let loopCount: Int
    /// Frames that time allows at most.
    let rate: FrameRateShare
    let clock: WorkClock

    /// Of the time that is left, what trying may take.
    private static let share = 0.35

    /// The step with the palette of all frames that goes with it; nil when nothing fits.
    func step(bytesMax: Int) throws -> (AnimationStep, GIFPalette?)? {
        var ladder = AnimationLadder(bytesMax: bytesMax, rate: rate)
        var palettes: [Int: GIFPalette] = [:]
        // Bounded: floating point.
        let enough = clock.secondsLeft * (1 - Self.share)
        let isLate = { clock.secondsLeft < enough }
        while let step = ladder.step {
            let palette = palettes[step.colours] ?? sample.palette(colours: step.colours)
            palettes[step.colours] = palette
            // What fits by now has to do; where nothing does, the pass itself leaves out what does not fit.
            if isLate() { return (ladder.best ?? step, palettes[(ladder.best ?? step).colours]) }
            ladder.record(bytes: try sample.estimate(step, loopCount: loopCount, palette: palette, isLate: isLate))
        }
        return ladder.best.map { ($0, palettes[$0.colours]) }
    }
}
