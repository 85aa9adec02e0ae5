import RichPush

/// Finds the best way to write an animation that fits its bytes and its time.
struct AnimationSearch {
    /// Passes over the whole animation; each one after the first corrects what the sample promised.
    private static let passesMax = 6
    /// Of the time that is left, what trying on the sample may take; and about how many tries that is.
    private static let sampleShare = 0.3
    private static let sampleTries = 9.0
    /// Pixels of a sample: as many as tell something, at most 48 MB of memory.
    private static let samplePixelsMin = 300_000
    private static let samplePixelsMax = 12_000_000
    /// Frames go by so much faster when they are only decoded, about.
    private static let decodingGain = 8.0

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
        var isHurried = false
    }

    func run() throws -> Found {
        let full = try pass(AnimationStep(), palette: firstPalette(), haste: .givesUp)
        if let found = found(full, AnimationStep()) { return found }
        let sample = try sample(pace: full.pace)
        var best: Found?
        var trust = 1.0
        for number in 0..<Self.passesMax {
            guard let (step, palette) = try bestStep(sample, bytesMax: Int(Double(bytesMax) / trust)) else { break }
            let isLast = number == Self.passesMax - 1 || clock.secondsLeft < 2 * Double(facts.delays.count) / full.pace
            let result = try pass(step, palette: palette, haste: isLast && best == nil ? .finishes : .givesUp)
            if let next = found(result, step), next.bytes.count > best?.bytes.count ?? 0 { best = next }
            if let best, best.bytes.count * 100 >= bytesMax * 88 || isLast { break }
            trust *= correction(result)
        }
        guard let best else { throw nothingFits }
        return best
    }

    private func correction(_ result: AnimationPass.Result) -> Double {
        Double(result.estimate) / (Double(bytesMax) * 0.96)
    }

    private var nothingFits: AttachPrepError {
        clock.secondsLeft <= 0
            ? AttachPrepError(
                .deadlineExceeded, "The animation could not be converted in the time it had; allow a larger budget.")
            : AttachPrepError(
                .limitExceeded, "The animation cannot be brought under \(bytesMax) bytes; raise --max-bytes.")
    }

    private func pass(_ step: AnimationStep, palette: GIFPalette?, haste: AnimationPass.Haste) throws
        -> AnimationPass.Result
    {
        try AnimationPass(step: step, bytesMax: bytesMax, baseScale: baseScale, palette: palette, clock: clock)
            .run(open(), delays: facts.delays, haste: haste)
    }

    private func found(_ result: AnimationPass.Result, _ step: AnimationStep) -> Found? {
        guard let bytes = result.bytes else { return nil }
        return Found(
            step: step, bytes: bytes, width: result.width, height: result.height, entries: result.entries,
            isHurried: result.isHurried)
    }

    /// Graphics have few colours, and the same ones throughout: those of the first frame, if a palette holds them.
    private func firstPalette() throws -> GIFPalette? {
        guard baseScale == 1, let frame = try open().next() else { return nil }
        var histogram = ColourHistogram()
        histogram.add(pixels: IndexedColour.pixels(of: frame.pixels))
        guard histogram.isExact, histogram.colours.count < 256 else { return nil }
        return GIFPalette(histogram.colours, hasTransparency: true, isExact: true)
    }

    // MARK: Sample

    private func sample(pace: Double) throws -> FrameSample {
        let frames = try open()
        let resizer = FrameResizer(width: frames.width, height: frames.height, scale: baseScale)
        let pixels = max(1, resizer.width * resizer.height)
        let seconds = max(0.05, clock.secondsLeft * Self.sampleShare)
        let affordable = Int(pace * Double(pixels) * seconds / Self.sampleTries)
        let budget = max(1, min(Self.samplePixelsMax, max(Self.samplePixelsMin, affordable)) / pixels)
        let reach = min(frames.count, max(budget, Int(pace * Self.decodingGain * seconds / 3)))
        var sample = FrameSample(width: resizer.width, height: resizer.height, delays: facts.delays)
        var number = 0
        for range in FrameSample.numbers(budget: budget, reach: reach) {
            while number < range.upperBound, let frame = try frames.next() {
                if range.contains(number) { sample.add(number, try resizer.resized(frame.pixels)) }
                number += 1
            }
        }
        return sample
    }

    /// The step of which the sample says that it fits, with the palette for it.
    private func bestStep(_ sample: FrameSample, bytesMax: Int) throws -> (AnimationStep, GIFPalette?)? {
        var ladder = AnimationLadder(bytesMax: bytesMax)
        var palettes: [Int: GIFPalette] = [:]
        while let step = ladder.step {
            let palette = palettes[step.colours] ?? sample.palette(colours: step.colours)
            palettes[step.colours] = palette
            ladder.record(
                bytes: try sample.estimate(step, loopCount: facts.loopCount, palette: palette) {
                    clock.secondsLeft < 0
                })
        }
        return ladder.best.map { ($0, palettes[$0.colours]) }
    }
}
