import SafeArithmetic

/// Parses durations and sizes.
package enum Quantity {
    /// Seconds from `500ms`, `20s`, `10m`, `12h`, `7d`, or a number without unit; nil if malformed.
    package static func seconds(_ text: String) -> Double? {
        read(text, units: [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)])
    }

    /// Whole seconds as text in days if they are whole days.
    package static func text(seconds: Double) -> String {
        let seconds = Int(clamping: seconds)
        return seconds > 0 && seconds % 86_400 == 0 ? "\(seconds / 86_400)d" : "\(seconds)s"
    }

    /// Bytes from `20GB`, `500MB`, `64kB` (decimal units), or a number without unit; nil if malformed.
    package static func bytes(_ text: String) -> Int? {
        let units = [("tb", 1e12), ("gb", 1e9), ("mb", 1e6), ("kb", 1e3), ("b", 1)]
        return read(text.lowercased(), units: units).flatMap { abs($0) < 1e18 ? Int(clamping: $0) : nil }
    }

    /// Parses a number with an optional unit.
    ///
    /// - Parameter units: longer suffixes first, since `ms` ends in `s`.
    private static func read(_ text: String, units: [(suffix: String, factor: Double)]) -> Double? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        guard let number = Double(text.dropLast(unit?.suffix.count ?? 0)), number.isFinite else { return nil }
        return number * (unit?.factor ?? 1)
    }
}
