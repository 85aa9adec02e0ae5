/// How much less work the passes over an animation must be, so that there is time for one: fewer frames, then smaller.
struct PassThrift: Hashable {
    /// Of the time that is left, what one pass may take; trying on the sample needs the rest.
    private static let passShare = 0.6
    /// Fewer frames than a quarter are no motion: size gives way then.
    private static let rates = [(1, 1), (3, 4), (2, 3), (1, 2), (1, 3), (1, 4)]

    // Bounded throughout: floating point.

    let rate: FrameRateShare
    /// Of each side.
    let scale: Double
    private let fullSeconds: Double

    /// - Parameters:
    ///   - pace: Frames a second at full size.
    ///   - seconds: That are left.
    init(pace: Double, frames: Int, seconds: Double) {
        fullSeconds = Double(frames) / max(pace, 1e-3)
        let share = min(1, max(0.001, seconds * Self.passShare / fullSeconds))
        let kept = Self.rates.last { Double($0.0) / Double($0.1) >= share } ?? (1, 1)
        rate = FrameRateShare(kept: kept.0, of: kept.1)
        scale = share >= 1 ? 1 : max(0.1, min(1, (share / rate.value).squareRoot()))
    }

    /// Whether time forces less than a step would by itself.
    func binds(_ step: AnimationStep) -> Bool { scale < 1 || rate != .all && step.rate == rate }

    /// What a pass will take.
    func passSeconds(_ step: AnimationStep) -> Double {
        fullSeconds * step.rate.value * scale * scale * step.scale * step.scale
    }
}
