import SafeArithmetic

/// Runs of frames that stand for an animation while it is found out how to write it.
///
/// Frames of a run follow each other, since each is written as what has changed.
struct FrameSample {
    struct Run {
        /// Number of its first frame.
        let start: Int
        var frames: [[UInt8]]
    }

    // Bounded throughout: numbers of frames, at most `animationFramesMax`, and bytes of frames in memory.

    let width: Int
    let height: Int
    let delays: [Int]
    private(set) var runs: [Run] = []

    init(width: Int, height: Int, delays: [Int]) {
        self.width = width
        self.height = height
        self.delays = delays
    }

    /// Takes a frame, if its number is one of those wanted.
    mutating func add(_ frame: Int, _ pixels: [UInt8]) {
        if let last = runs.last, last.start + last.frames.count == frame {
            runs[runs.count - 1].frames.append(pixels)
        } else {
            runs.append(Run(start: frame, frames: [pixels]))
        }
    }

    /// Frames a run has, and how the runs are spread over the first `reach` frames: the numbers of all.
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

    /// Whether every frame is in it.
    var isWhole: Bool { runs.count == 1 && runs[0].frames.count == delays.count }

    // MARK: Trying

    /// The bytes that the whole animation would have by the sample's word.
    ///
    /// - Parameter isLate: Asked now and then; when it says so, the rest of the sample is left out.
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

    /// One palette of as many colours for all frames.
    func palette(colours: Int) -> GIFPalette {
        var histogram = ColourHistogram()
        for run in runs {
            for frame in run.frames { histogram.add(pixels: IndexedColour.pixels(of: frame)) }
        }
        return GIFPalette(
            ColourQuantiser.colours(of: histogram, count: colours - 1), hasTransparency: true,
            isExact: histogram.isExact && histogram.colours.count < colours)
    }
}
