import SafeArithmetic

/// Runs of frames that represent an animation while its encoding is chosen.
///
/// Frames of a run are consecutive, since each is encoded as its difference from the one before.
struct FrameSample {
    struct Run {
        /// Number of its first frame.
        let start: Int
        var frames: [[UInt8]]
    }

    let width: Int
    let height: Int
    let delays: [Int]
    private(set) var runs: [Run] = []

    init(width: Int, height: Int, delays: [Int]) {
        self.width = width
        self.height = height
        self.delays = delays
    }

    /// Adds a frame; starts a new run unless it follows the last one.
    mutating func add(_ frame: Int, _ pixels: [UInt8]) {
        if let last = runs.last, last.start + last.frames.count == frame {
            runs[runs.count - 1].frames.append(pixels)
        } else {
            runs.append(Run(start: frame, frames: [pixels]))
        }
    }

    /// The frame numbers of a sample: runs of 12 frames, spread over the first `reach` frames.
    static func numbers(budget: Int, reach: Int) -> [Range<Int>] {
        let run = 12
        guard budget < reach else { return [0..<reach] }
        let runs = max(1, budget / run)
        guard runs > 1 else { return [0..<max(1, min(budget, reach))] }
        return (0..<runs).map { number in
            let start = (reach - run) * number / (runs - 1)
            return start..<start + run
        }
    }

    /// Whether it contains every frame.
    var isWhole: Bool { runs.count == 1 && runs[0].frames.count == delays.count }

    // MARK: Estimating

    /// The predicted bytes of the whole animation.
    ///
    /// - Parameter isLate: Called after each frame; if true, the rest of the run is skipped.
    func estimate(_ step: AnimationStep, loopCount: Int, palette: GIFPalette?, isLate: () -> Bool) throws -> Int {
        let resizer = FrameResizer(width: width, height: height, scale: step.scale)
        let timing = FrameTiming(delays: delays, rate: step.rate)
        var settings = step.settings
        settings.sharedPalette = palette
        var (first, changes, changed) = (0, 0, 0)
        for run in runs {
            var encoder = GIFEncoder(
                width: resizer.width, height: resizer.height, loopCount: loopCount, settings: settings)
            let range = run.start..<run.start + run.frames.count
            for entry in timing.entries where range.contains(entry.frame) {
                let pixels = try resizer.resized(run.frames[entry.frame - run.start])
                encoder.add(pixels, hundredths: entry.hundredths)
                if isLate() { break }
            }
            _ = encoder.finish()
            guard let own = encoder.frameBytes.first else { continue }
            if first == 0 { first = own }
            changes += encoder.frameBytes.dropFirst().reduce(0, +)
            changed += encoder.frameBytes.count - 1
        }
        let rest = timing.entries.count - 1
        let mean = changed > 0 ? Double(changes) / Double(changed) : Double(first)
        let others = (palette?.bytes.count ?? 0) + 40
        return first.adding(clamping: Int(clamping: mean * Double(rest))).adding(clamping: others)
    }

    /// One palette of at most `colors` colors for all frames.
    func palette(colors: Int) -> GIFPalette {
        var histogram = ColorHistogram()
        for run in runs {
            for frame in run.frames { histogram.add(pixels: PackedColor.pixels(of: frame)) }
        }
        return GIFPalette(
            ColorQuantizer.colors(of: histogram, count: colors - 1), hasTransparency: true,
            isExact: histogram.isExact && histogram.colors.count < colors)
    }
}

/// Collects the frames of a sample, as many as there is time to evaluate.
struct FrameSampleCollector {
    /// The share of the remaining time for evaluating the sample, and the approximate number of attempts.
    private static let share = 0.3
    private static let tries = 9.0
    /// Pixels of a sample: enough to be representative, at most 48 MB of memory.
    private static let pixelsMin = 300_000
    private static let pixelsMax = 12_000_000
    /// Minimum frames; fewer cannot show what dropping frames saves.
    private static let framesMin = 6
    /// How many times faster frames are decoded than encoded, approximately.
    private static let decodingGain = 6.0

    let facts: AnimationFacts
    let scale: Double
    /// Frames per second of encoding at full size.
    let pace: Double
    let clock: WorkClock

    func collect(_ frames: any AnimationDecoder) throws -> FrameSample {
        let resizer = FrameResizer(width: frames.width, height: frames.height, scale: scale)
        let pixels = max(1, resizer.width * resizer.height)
        let seconds = max(0.02, clock.secondsLeft * Self.share)
        let affordable = Int(clamping: pace * Double(frames.width * frames.height) * seconds / Self.tries)
        let budget = max(Self.framesMin, min(Self.pixelsMax, max(Self.pixelsMin, affordable)) / pixels)
        let reach = min(frames.count, max(budget, Int(clamping: pace * Self.decodingGain * seconds / 3)))
        var sample = FrameSample(width: resizer.width, height: resizer.height, delays: facts.delays)
        var number = 0
        for range in FrameSample.numbers(budget: budget, reach: reach) {
            while number < range.upperBound, sample.runs.isEmpty || clock.secondsLeft > 0,
                let frame = try frames.next()
            {
                if range.contains(number) { sample.add(number, try resizer.resized(frame.pixels)) }
                number += 1
            }
        }
        return sample
    }
}

/// Finds the step that fits according to a sample.
struct SampledStepSearch {
    let sample: FrameSample
    let loopCount: Int
    /// The maximum share of frames that time allows.
    let rate: FrameRateShare
    let clock: WorkClock

    /// The share of the remaining time for the search.
    private static let share = 0.35

    /// The step and its palette for all frames; nil when nothing fits.
    func step(bytesMax: Int) throws -> (AnimationStep, GIFPalette?)? {
        var ladder = AnimationLadder(bytesMax: bytesMax, rate: rate)
        var palettes: [Int: GIFPalette] = [:]
        let enough = clock.secondsLeft * (1 - Self.share)
        let isLate = { clock.secondsLeft < enough }
        while let step = ladder.step {
            let palette = palettes[step.colors] ?? sample.palette(colors: step.colors)
            palettes[step.colors] = palette
            // Returns the best so far; if none fits, the pass itself drops frames.
            if isLate() { return (ladder.best ?? step, palettes[(ladder.best ?? step).colors]) }
            ladder.record(bytes: try sample.estimate(step, loopCount: loopCount, palette: palette, isLate: isLate))
        }
        return ladder.best.map { ($0, palettes[$0.colors]) }
    }
}
