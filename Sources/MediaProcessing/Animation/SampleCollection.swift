import SafeArithmetic

/// Picks the frames of a sample, as many as there is time to try them.
struct SampleCollection {
    /// Of the time that is left, what trying may take; and about how many tries that is.
    private static let share = 0.3
    private static let tries = 9.0
    /// Pixels of a sample: as many as tell something, at most 48 MB of memory.
    private static let pixelsMin = 300_000
    private static let pixelsMax = 12_000_000
    /// Fewer frames say nothing of what dropping some of them saves.
    private static let framesMin = 6
    /// Frames go by so much faster when they are only decoded, about.
    private static let decodingGain = 6.0

    let facts: AnimationFacts
    let scale: Double
    /// Frames a second when they are written at full size.
    let pace: Double
    let clock: WorkClock

    func collect(_ frames: any FrameSequence) throws -> FrameSample {
        // Bounded throughout: `PictureLimits` have been checked; times are floating point, and pixels at least 1.
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
