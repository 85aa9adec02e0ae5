import SafeArithmetic
import Vips

/// What encoding costs, learned from what was done so far, against the time that is left.
final class EncodingPace {
    /// The next try may take so much longer than the one before it says.
    private static let margin = 1.4

    let clock: WorkClock
    private var secondsPerPixel = 0.0
    /// Whether something was left out because of time.
    private(set) var isShort = false

    init(_ clock: WorkClock) { self.clock = clock }

    /// Before anything was encoded, decoding says how dear a pixel is: the two cost much the same.
    func learn(pixels: Int) { secondsPerPixel = clock.secondsSpent / Double(max(1, pixels)) }

    /// Does the work on a picture and remembers what it cost.
    func measure<Result>(_ picture: Picture, _ work: () throws -> Result) rethrows -> Result {
        let start = ContinuousClock.now
        let result = try work()
        // Bounded: the picture is in memory.
        secondsPerPixel = (start.duration(to: .now) / .seconds(1)) / Double(max(1, picture.width * picture.height))
        return result
    }

    /// Whether there is time for that picture; `effort` is how many times dearer it is than the last one.
    func allows(_ picture: Picture, effort: Double = 1) -> Bool {
        // Bounded: the picture is in memory.
        allows(pixels: picture.width * picture.height, effort: effort)
    }

    /// As above, by its pixels.
    func allows(pixels: Int, effort: Double = 1) -> Bool {
        // Bounded: floating point.
        let isAllowed = Double(pixels) * secondsPerPixel * effort * Self.margin <= clock.secondsLeft
        if !isAllowed { isShort = true }
        return isAllowed
    }

    /// Pixels that can be encoded in half of the time that is left.
    var pixelsAllowed: Int {
        guard secondsPerPixel > 0 else { return .max }
        // Bounded: floating point.
        let pixels = max(0, clock.secondsLeft) / 2 / (secondsPerPixel * Self.margin)
        return pixels < 1e12 ? Int(clamping: pixels) : .max
    }
}
