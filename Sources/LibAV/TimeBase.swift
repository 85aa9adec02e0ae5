import CLibAV
import SafeArithmetic

/// The length of a stream's tick, as a fraction of a second.
package struct TimeBase: Sendable, Hashable {
    package let numerator: Int32
    package let denominator: Int32

    init(_ rational: AVRational) {
        numerator = rational.num
        denominator = rational.den
    }

    package init(numerator: Int32, denominator: Int32) {
        self.numerator = numerator
        self.denominator = denominator
    }

    var rational: AVRational { AVRational(num: numerator, den: denominator) }

    /// Three centuries: seconds beyond were made up, to make whatever counts ticks or samples overflow.
    package static let secondsMax = 1e10

    /// Seconds of so many ticks, at most `secondsMax` in either direction.
    package func seconds(_ ticks: Int64) -> Double { (Double(ticks) * tick).mediaSeconds }

    /// Seconds of one tick.
    package var tick: Double { denominator == 0 ? 0 : Double(numerator) / Double(denominator) }

    /// The tick at or before a time, clamped to what fits.
    package func ticks(_ seconds: Double) -> Int64 {
        guard tick > 0, seconds.isFinite else { return seconds > 0 ? Int64.max / 4 : Int64.min / 4 }
        return Int64(clamping: max(-1e17, min(1e17, (seconds / tick).rounded(.down))))
    }
}

extension Double {
    /// Seconds, at most `TimeBase.secondsMax` in either direction.
    var mediaSeconds: Double { max(-TimeBase.secondsMax, min(TimeBase.secondsMax, self)) }
}

extension Int64 {
    /// Ticks beyond it are no time, but something made up to make sums of them overflow.
    private static let timestampMax: Int64 = 1 << 60

    /// libav's "no timestamp" as nil, and what is no time.
    var timestamp: Int64? { magnitude > Self.timestampMax.magnitude ? nil : self }

    /// A duration: nothing below zero, nor beyond what sums can hold.
    var span: Int64 { Swift.max(0, Swift.min(self, Self.timestampMax)) }
}

extension AVRational {
    /// The fraction's value; nil for 0/0, infinity and what is not positive.
    var positive: Double? { num > 0 && den > 0 ? Double(num) / Double(den) : nil }
}
