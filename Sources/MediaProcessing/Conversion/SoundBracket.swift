import Foundation
import RichPush
import SafeArithmetic

/// The bit rates that were tried, and what came of them: it does not follow what is asked for in a straight line.
// Bounded throughout: floating point; bit rates have 30 bits (`SoundLadder`).
struct SoundBracket: Sendable, Hashable {
    private struct Point: Sendable, Hashable {
        let rung: SoundLadder.Rung
        let measured: Double
    }

    /// Below a rate that was too much, by this much at least.
    private static let step = 0.93
    /// Steps are stretched no further, however little the last one brought.
    private static let stretchMax = 3.0

    private var fits: Int?
    private var isTooMuch: Int?
    private var last: Point?
    private var stretch = 1.0

    /// Takes a try.
    ///
    /// - Parameter measured: Bits a second that came out.
    mutating func take(_ rung: SoundLadder.Rung, measured: Double, fits isFitting: Bool) {
        if isFitting {
            fits = max(fits ?? 0, rung.bitRate)
        } else {
            isTooMuch = min(isTooMuch ?? .max, rung.bitRate)
        }
        if let last, last.rung.bitRate != rung.bitRate, last.rung.channels == rung.channels {
            let asked = log(Double(rung.bitRate) / Double(last.rung.bitRate))
            let brought = log(max(measured, 1) / last.measured)
            stretch = min(Self.stretchMax, max(1, brought / asked > 0 ? asked / brought : Self.stretchMax))
        }
        last = Point(rung: rung, measured: max(measured, 1))
    }

    /// The next rung with its bit rate between those that are known; where seconds are cut, they give way.
    func bounding(_ rung: SoundLadder.Rung) -> SoundLadder.Rung {
        guard let last, rung.keptSeconds == nil else { return rung }
        var bounded = rung
        let step = Double(rung.bitRate) / Double(last.rung.bitRate)
        if rung.channels == last.rung.channels, !rung.isFull {
            let least = Double(Limits.soundBitsPerSecondMin / 2)
            bounded.bitRate = Int(clamping: max(least, Double(last.rung.bitRate) * pow(step, stretch)))
        }
        if let isTooMuch, Double(bounded.bitRate) > Double(isTooMuch) * Self.step {
            bounded.bitRate = fits.map { ($0 + isTooMuch) / 2 } ?? Int(clamping: Double(isTooMuch) * Self.step)
            bounded.isFull = false
        }
        return bounded
    }
}
