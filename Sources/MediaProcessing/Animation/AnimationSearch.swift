import RichPush
import SafeArithmetic

/// Finds the best way to write an animation that fits its bytes and its time.
struct AnimationSearch {
    /// Passes over the whole animation; each one after the first corrects what the sample promised.
    private static let passesMax = 6
    /// So near to the limit another pass gains nothing that is seen.
    private static let closeShare = 0.88
    /// Where a corrected pass aims, since what it was corrected by is not exact.
    private static let aimShare = 0.96
    /// A pass is the last one when there is no time for about so many.
    private static let passesReserve = 2.5

    let facts: AnimationFacts
    let bytesMax: Int
    let baseScale: Double
    let clock: WorkClock
    let open: () throws -> any FrameSequence

    /// A GIF that fits.
    struct Found {
        var step: AnimationStep
        var bytes: [UInt8]
        var width: Int
        var height: Int
        var entries: [FrameTiming.Entry]
        /// Whether time forced less than the bytes alone would have.
        var isHurried: Bool
    }

    func run() throws -> Found {
        let full = try pass(AnimationStep(), palette: firstPalette(), scale: baseScale, haste: .givesUp)
        if let found = found(full, AnimationStep(), isHurried: false) { return found }
        let thrift = PassThrift(pace: full.pace, frames: facts.delays.count, seconds: clock.secondsLeft)
        let sample = try SampleCollection(
            // Bounded: floating point.
            facts: facts, scale: baseScale * thrift.scale, pace: full.pace, clock: clock
        ).collect(open())
        return try found(thrift, sample)
    }

    /// The best of some passes, each one at what the sample promises, and what the one before it taught of the sample.
    private func found(_ thrift: PassThrift, _ sample: FrameSample) throws -> Found {
        let choice = SampleChoice(sample: sample, loopCount: facts.loopCount, rate: thrift.rate, clock: clock)
        var best: Found?
        var correction = 1.0
        var passSeconds: Double?
        for number in 1...Self.passesMax {
            let bytesGoal = Int(clamping: Double(bytesMax) / correction)
            guard let (step, palette) = try choice.step(bytesMax: bytesGoal) else { break }
            let needed = passSeconds ?? thrift.passSeconds(step)
            // Bounded throughout: floating point.
            let isLast = number == Self.passesMax || clock.secondsLeft < needed * Self.passesReserve
            if best != nil, isLast, clock.secondsLeft < needed { break }
            let start = clock.secondsSpent
            let result = try pass(
                step, palette: palette, scale: baseScale * thrift.scale,
                haste: best != nil ? .givesUp : isLast ? .finishes : .keepsTime)
            passSeconds = clock.secondsSpent - start
            let next = found(result, step, isHurried: thrift.binds(step))
            if let next, next.bytes.count > best?.bytes.count ?? 0 { best = next }
            if let best, isLast || Double(best.bytes.count) >= Double(bytesMax) * Self.closeShare { return best }
            correction *= Double(result.estimate) / (Double(bytesMax) * Self.aimShare)
        }
        guard let best else { throw nothingFits }
        return best
    }

    private var nothingFits: AttachPrepError {
        clock.secondsLeft <= 0
            ? AttachPrepError(
                .deadlineExceeded, "The animation could not be converted in the time it had; allow a larger budget.")
            : AttachPrepError(
                .limitExceeded, "The animation cannot be brought under \(bytesMax) bytes; raise its limit (maxBytes).")
    }

    private func pass(
        _ step: AnimationStep, palette: GIFPalette?, scale: Double, haste: AnimationPass.Haste
    ) throws -> AnimationPass.Result {
        var pass = AnimationPass(
            try open(), delays: facts.delays, step: step, palette: palette, scale: scale, bytesMax: bytesMax,
            haste: haste, clock: clock)
        return try pass.run()
    }

    private func found(_ result: AnimationPass.Result, _ step: AnimationStep, isHurried: Bool) -> Found? {
        guard let bytes = result.bytes else { return nil }
        return Found(
            step: step, bytes: bytes, width: result.width, height: result.height, entries: result.entries,
            isHurried: isHurried || result.isHurried)
    }

    /// Graphics have few colours, and the same ones throughout: those of the first frame, if a palette holds them.
    private func firstPalette() throws -> GIFPalette? {
        guard baseScale == 1, let frame = try open().next() else { return nil }
        var histogram = ColourHistogram()
        histogram.add(pixels: IndexedColour.pixels(of: frame.pixels))
        guard histogram.isExact, histogram.colours.count < 256 else { return nil }
        return GIFPalette(histogram.colours, hasTransparency: true, isExact: true)
    }
}
