import Glibc

/// Finds the least reduction with which an animation fits: exactness first, then colors, then frames, then size.
///
/// Pure: it proposes a step, takes the resulting bytes, and proposes the next. The first rung that fits at its greatest
/// tolerance is found by bisection; within it the tolerance, or the scale, is narrowed until the result is just below
/// the limit.
package struct AnimationLadder: Sendable {
    /// Above this, flat areas show patterns; fewer colors are less visible.
    static let toleranceMax = 24.0
    /// Minimum scale; a smaller image shows nothing recognizable.
    static let scaleMin = 0.02
    /// At this share of the limit the search ends.
    private static let closeShare = 0.93
    /// The share of the limit that an attempt aims at.
    private static let aimShare = 0.975
    private static let narrowingMax = 7

    /// The rungs, each at its greatest tolerance.
    static let rungs: [AnimationStep] = {
        var step = AnimationStep()
        step.tolerance = toleranceMax
        var rungs = [step]
        for colors in [128, 64, 32] {
            step.colors = colors
            rungs.append(step)
        }
        for rate in [(3, 4), (2, 3), (1, 2), (1, 3), (1, 4)] {
            step.rate = FrameRateShare(kept: rate.0, of: rate.1)
            rungs.append(step)
        }
        return rungs
    }()

    private enum Phase: Hashable { case full, rungs, tolerance, scale, done }

    private let bytesMax: Double
    private let rate: FrameRateShare
    private var phase = Phase.full
    /// The lowest rung not known to be over the limit, and the one that is known to fit (or the last).
    private var low = 0
    private var high = AnimationLadder.rungs.count - 1
    private var knowsHigh = false
    private var rung = 0
    /// The narrowed value and its bytes, over and under the limit.
    private var over: (value: Double, bytes: Double)?
    private var under: (value: Double, bytes: Double)?
    private var narrowings = 0
    /// The step to try next; nil when the search has ended.
    package private(set) var step: AnimationStep?
    /// The best step that fits.
    package private(set) var best: AnimationStep?
    private var bestBytes = 0.0

    /// - Parameter rate: The maximum share of frames.
    package init(bytesMax: Int, rate: FrameRateShare = .all) {
        self.bytesMax = Double(bytesMax)
        self.rate = rate
        step = limited(AnimationStep())
    }

    private func limited(_ step: AnimationStep) -> AnimationStep {
        var step = step
        if rate.value < step.rate.value { step.rate = rate }
        return step
    }

    /// Records the bytes of the step that was tried.
    package mutating func record(bytes: Int) {
        guard let tried = step else { return }
        let bytes = Double(max(1, bytes))
        let fits = bytes <= bytesMax
        if fits, phase != .rungs || best == nil || bytes > bestBytes { (best, bestBytes) = (tried, bytes) }
        switch phase {
        case .full: fits ? end() : beginRungs(over: bytes)
        case .rungs: recordRung(bytes, fits: fits)
        case .tolerance, .scale: recordNarrowing(bytes, fits: fits)
        case .done: break
        }
    }

    private mutating func end() {
        phase = .done
        step = nil
    }

    // MARK: Rungs

    private mutating func beginRungs(over bytes: Double) {
        phase = .rungs
        over = (0, bytes)
        tryRung(0)
    }

    private mutating func tryRung(_ index: Int) {
        rung = index
        step = limited(Self.rungs[index])
    }

    private mutating func recordRung(_ bytes: Double, fits: Bool) {
        if fits {
            high = rung
            knowsHigh = true
            under = (Self.toleranceMax, bytes)
        } else {
            low = rung + 1
            if rung == Self.rungs.count - 1 { return beginScale(over: bytes) }
        }
        if low < high || !knowsHigh { return tryRung(knowsHigh ? (low + high) / 2 : min(high, low * 2)) }
        rung = high
        // The exact size is known for the first rung only; 2.5 times the size at full tolerance is a good estimate.
        if rung > 0 { over = (0, (under?.bytes ?? bytesMax) * 2.5) }
        phase = .tolerance
        narrow()
    }

    // MARK: Narrowing

    private mutating func beginScale(over bytes: Double) {
        phase = .scale
        over = (1, bytes)
        under = (0, 1)
        best = nil
        narrow()
    }

    private mutating func recordNarrowing(_ bytes: Double, fits: Bool) {
        guard let value = phase == .scale ? step?.scale : step?.tolerance else { return }
        if fits { under = (value, bytes) } else { over = (value, bytes) }
        if fits, bytes >= bytesMax * Self.closeShare { return end() }
        narrow()
    }

    private mutating func narrow() {
        guard let over, let under, narrowings < Self.narrowingMax || best == nil else { return end() }
        narrowings += 1
        if under.bytes >= bytesMax * Self.closeShare { return end() }
        var next = limited(Self.rungs[rung])
        if phase == .scale {
            next.scale = scale(over: over, under: under)
            guard next.scale >= Self.scaleMin else { return end() }
        } else {
            next.tolerance = tolerance(over: over, under: under)
        }
        step = next
    }

    /// Bytes are about proportional to the area.
    private func scale(
        over: (value: Double, bytes: Double), under: (value: Double, bytes: Double)
    ) -> Double {
        let guess = over.value * (bytesMax * Self.aimShare / over.bytes).squareRoot()
        guard under.value > 0 else { return min(guess, over.value * 0.97) }
        let share = (bytesMax * Self.aimShare - under.bytes) / (over.bytes - under.bytes)
        return under.value + (over.value - under.value) * min(0.9, max(0.1, share))
    }

    /// The logarithm of the bytes falls about linearly with the tolerance.
    private func tolerance(
        over: (value: Double, bytes: Double), under: (value: Double, bytes: Double)
    ) -> Double {
        let goal = log(bytesMax * Self.aimShare)
        let share = (log(over.bytes) - goal) / max(1e-9, log(over.bytes) - log(under.bytes))
        return over.value + (under.value - over.value) * min(0.92, max(0.08, share))
    }
}

/// The reductions of one attempt to encode an animation.
package struct AnimationStep: Sendable, Hashable {
    /// Steps of 8-bit components by which a pixel may differ; 0 is exact.
    package var tolerance = 0.0
    /// Maximum palette entries.
    package var colors = 256
    package var rate = FrameRateShare.all
    /// Scale of width and height; 1 is full size.
    package var scale = 1.0

    package init() {}

    var settings: GIFSettings {
        GIFSettings(exactness: GIFExactness(level: tolerance), colors: colors, sharedPalette: nil)
    }
}
