import SafeArithmetic

/// Times and sizes as people write them. Pure.
package enum Quantity {
    /// `500ms`, `20s`, `10m`, `12h`, `7d`, or seconds as a number.
    package static func seconds(_ text: String) -> Double? {
        read(text, units: [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)])
    }

    /// `20GB`, `500MB`, `64kB`, decimal, or bytes as a number.
    static func bytes(_ text: String) -> Int? {
        let units = [("tb", 1e12), ("gb", 1e9), ("mb", 1e6), ("kb", 1e3), ("b", 1)]
        return read(text.lowercased(), units: units).flatMap { abs($0) < 1e18 ? Int(clamping: $0) : nil }
    }

    /// A number and its unit, of which the longer ones stand first.
    private static func read(_ text: String, units: [(suffix: String, factor: Double)]) -> Double? {
        let unit = units.first { text.hasSuffix($0.suffix) }
        guard let number = Double(text.dropLast(unit?.suffix.count ?? 0)), number.isFinite else { return nil }
        // Bounded: floating point, which does not trap.
        return number * (unit?.factor ?? 1)
    }
}
