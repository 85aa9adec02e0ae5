import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// Finds the best encoding of an animation that fits its byte limit and its time.
struct AnimationSearch {
    /// Maximum passes over the whole animation; each one after the first corrects the sample's prediction.
    private static let passesMax = 6
    /// At this share of the limit another pass gives no visible gain.
    private static let closeShare = 0.88
    /// The share of the limit that a corrected pass aims at, since corrections are not exact.
    private static let aimShare = 0.96
    /// How much more of the work a search must allow to be made after one that lack of time had limited.
    private static let gainMin = 1.5
    /// A pass is the last one when there is no time for about this many.
    private static let passesReserve = 2.5

    let facts: AnimationFacts
    let bytesMax: Int
    let baseScale: Double
    let clock: WorkClock
    let open: () throws -> any AnimationDecoder

    /// A GIF that fits.
    struct Found {
        var step: AnimationStep
        var bytes: [UInt8]
        var width: Int
        var height: Int
        var entries: [FrameTiming.Entry]
        /// Whether the time limit reduced more than the byte limit alone would have.
        var isTimeLimited: Bool
    }

    func run() throws -> Found {
        let full = try pass(AnimationStep(), palette: firstPalette(), scale: baseScale, overrunPolicy: .abort)
        if let found = candidate(full, step: AnimationStep(), isTimeLimited: false) { return found }
        var workReduction = PassWorkReduction(pace: full.pace, frames: facts.delays.count, seconds: clock.secondsLeft)
        var (found, pace) = try search(workReduction, pace: full.pace)
        // What lack of time took from the animation is decided again by the latest pace.
        while found.isTimeLimited {
            let renewed = PassWorkReduction(pace: pace, frames: facts.delays.count, seconds: clock.secondsLeft)
            guard renewed.share >= workReduction.share * Self.gainMin,
                let better = try? search(renewed, pace: pace)
            else { break }
            workReduction = renewed
            (found, pace) = better
        }
        return found
    }

    /// Returns the best of several passes, each with the step that a sample predicts, corrected by the previous pass;
    /// and the pace of the last one, in frames per second at full size.
    private func search(_ workReduction: PassWorkReduction, pace: Double) throws -> (found: Found, pace: Double) {
        let sample = try FrameSampleCollector(
            facts: facts, scale: baseScale * workReduction.scale, pace: pace, clock: clock
        ).collect(open())
        let choice = SampledStepSearch(
            sample: sample, loopCount: facts.loopCount, rate: workReduction.rate, clock: clock)
        var best: Found?
        var correction = 1.0
        var passSeconds: Double?
        var pace = pace
        for number in 1...Self.passesMax {
            let bytesGoal = Int(clamping: Double(bytesMax) / correction)
            guard let (step, palette) = try choice.step(bytesMax: bytesGoal) else { break }
            let needed = passSeconds ?? workReduction.passSeconds(step)
            let isLast = number == Self.passesMax || clock.secondsLeft < needed * Self.passesReserve
            if best != nil, isLast, clock.secondsLeft < needed { break }
            let start = clock.secondsSpent
            let result = try pass(
                step, palette: palette, scale: baseScale * workReduction.scale,
                overrunPolicy: best != nil ? .abort : isLast ? .dropFramesToFit : .dropFramesWhenLate)
            passSeconds = clock.secondsSpent - start
            pace = result.pace * workReduction.workShare(step)
            let next = candidate(result, step: step, isTimeLimited: workReduction.binds(step))
            if let next, next.bytes.count > best?.bytes.count ?? 0 { best = next }
            if let best, isLast || Double(best.bytes.count) >= Double(bytesMax) * Self.closeShare {
                return (best, pace)
            }
            correction *= Double(result.estimate) / (Double(bytesMax) * Self.aimShare)
        }
        guard let best else { throw nothingFits }
        return (best, pace)
    }

    private var nothingFits: AttachPrepError {
        clock.secondsLeft <= 0
            ? AttachPrepError(
                .deadlineExceeded, "The animation could not be converted within its time; allow a larger budget.")
            : AttachPrepError(
                .limitExceeded, "The animation cannot be reduced below \(bytesMax) bytes; raise its limit (maxBytes).")
    }

    private func pass(
        _ step: AnimationStep, palette: GIFPalette?, scale: Double, overrunPolicy: AnimationPass.OverrunPolicy
    ) throws -> AnimationPass.Result {
        var pass = AnimationPass(
            try open(), delays: facts.delays, step: step, palette: palette, scale: scale, bytesMax: bytesMax,
            overrunPolicy: overrunPolicy, clock: clock)
        return try pass.run()
    }

    private func candidate(_ result: AnimationPass.Result, step: AnimationStep, isTimeLimited: Bool) -> Found? {
        guard let bytes = result.bytes else { return nil }
        return Found(
            step: step, bytes: bytes, width: result.width, height: result.height, entries: result.entries,
            isTimeLimited: isTimeLimited || result.isTimeLimited)
    }

    /// The palette of the first frame if it is exact: graphics have few colors, and the same ones throughout.
    private func firstPalette() throws -> GIFPalette? {
        guard baseScale == 1, let frame = try open().next() else { return nil }
        var histogram = ColorHistogram()
        histogram.add(pixels: PackedColor.pixels(of: frame.pixels))
        guard histogram.isExact, histogram.colors.count < 256 else { return nil }
        return GIFPalette(histogram.colors, hasTransparency: true, isExact: true)
    }
}

/// Reduces the work of a pass so that there is time for one: fewer frames first, then a smaller size.
struct PassWorkReduction: Hashable {
    /// The share of the remaining time for one pass; evaluating the sample needs the rest.
    private static let passShare = 0.6
    /// Fewer frames than a quarter no longer look like motion; size is reduced instead.
    private static let rates = [(1, 1), (3, 4), (2, 3), (1, 2), (1, 3), (1, 4)]

    let rate: FrameRateShare
    /// Scale of each side.
    let scale: Double
    private let fullSeconds: Double

    /// - Parameters:
    ///   - pace: Frames per second at full size.
    ///   - seconds: The remaining time.
    init(pace: Double, frames: Int, seconds: Double) {
        fullSeconds = Double(frames) / max(pace, 1e-3)
        let share = min(1, max(0.001, seconds * Self.passShare / fullSeconds))
        let kept = Self.rates.last { Double($0.0) / Double($0.1) >= share } ?? (1, 1)
        rate = FrameRateShare(kept: kept.0, of: kept.1)
        scale = share >= 1 ? 1 : max(0.1, min(1, (share / rate.value).squareRoot()))
    }

    /// Whether the time limit reduces more than the step alone.
    func binds(_ step: AnimationStep) -> Bool { scale < 1 || rate != .all && step.rate == rate }

    /// The share of a full pass's work that it allows.
    var share: Double { rate.value * scale * scale }

    /// The share of a full pass's work that a step takes.
    func workShare(_ step: AnimationStep) -> Double { step.rate.value * scale * scale * step.scale * step.scale }

    /// Predicted seconds of a pass.
    func passSeconds(_ step: AnimationStep) -> Double { fullSeconds * workShare(step) }
}
