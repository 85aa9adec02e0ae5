import Glibc
import SafeArithmetic

/// A colour profile that is three primaries and a curve for each, as displays have them: Display P3, Adobe RGB.
///
/// Source: ICC.1:2010, 8.4.3 (three-component matrix-based profiles), 10.6 (`curv`), 10.18 (`para`).
struct DisplayProfile {
    /// Light of each primary for each number of a byte: 0 to 1.
    let curves: [[Double]]
    /// Columns of XYZ under D50: red, green, blue.
    let primaries: [[Double]]

    /// Nil for another kind of profile, and for one that is broken.
    init?(_ bytes: [UInt8]) {
        guard let tags = ICCProfile.tags(bytes), bytes[16..<20].elementsEqual("RGB ".utf8),
            bytes[20..<24].elementsEqual("XYZ ".utf8), tags["A2B0"] == nil, tags["A2B1"] == nil
        else { return nil }
        let reader = Reader(bytes: bytes)
        let found = ["r", "g", "b"].map { letter in
            (tags["\(letter)XYZ"].flatMap(reader.column), tags["\(letter)TRC"].flatMap(reader.curve))
        }
        primaries = found.compactMap { $0.0 }
        curves = found.compactMap { $0.1 }
        guard primaries.count == 3, curves.count == 3 else { return nil }
    }

    private struct Reader {
        let bytes: [UInt8]

        // Bounded throughout: tags lie in the profile (`ICCProfile.tags`), and what is read lies in its tag: `type` and
        // each count have seen to it. Numbers have four bytes; the rest is floating point.

        func column(_ tag: Range<Int>) -> [Double]? {
            guard type(tag) == "XYZ ", tag.count >= 20 else { return nil }
            return (0..<3).map { fixed(tag.lowerBound + 8 + $0 * 4) }
        }

        func curve(_ tag: Range<Int>) -> [Double]? {
            switch type(tag) {
            case "curv": sampled(tag)
            case "para": parametric(tag)
            default: nil
            }
        }

        private func type(_ tag: Range<Int>) -> String? {
            guard tag.count >= 12 else { return nil }
            return String(decoding: bytes[tag.lowerBound..<(tag.lowerBound + 4)], as: UTF8.self)
        }

        private func sampled(_ tag: Range<Int>) -> [Double]? {
            let count = number(tag.lowerBound + 8, 4)
            guard count <= (tag.count - 12) / 2 else { return nil }
            let points = (0..<count).map { Double(number(tag.lowerBound + 12 + $0 * 2, 2)) }
            return (0...255).map { value in
                let share = Double(value) / 255
                if count == 0 { return share }
                if count == 1 { return pow(share, points[0] / 256) }
                let place = share * Double(count - 1)
                let below = min(Int(clamping: place), count - 2)
                let part = place - Double(below)
                return (points[below] * (1 - part) + points[below + 1] * part) / 65_535
            }
        }

        /// The numbers of each of the five functions, as they stand in the tag: g, a, b, c, d, e, f.
        private func parametric(_ tag: Range<Int>) -> [Double]? {
            let function = number(tag.lowerBound + 8, 2)
            let counts = [1, 3, 4, 5, 7]
            guard counts.indices.contains(function), tag.count >= 12 + counts[function] * 4 else { return nil }
            let p = (0..<counts[function]).map { fixed(tag.lowerBound + 12 + $0 * 4) }
            return (0...255).map { value in
                let x = Double(value) / 255
                let light =
                    switch function {
                    case 0: pow(x, p[0])
                    case 1: x >= -p[2] / p[1] ? pow(p[1] * x + p[2], p[0]) : 0
                    case 2: x >= -p[2] / p[1] ? pow(p[1] * x + p[2], p[0]) + p[3] : p[3]
                    case 3: x >= p[4] ? pow(p[1] * x + p[2], p[0]) : p[3] * x
                    default: x >= p[4] ? pow(p[1] * x + p[2], p[0]) + p[5] : p[3] * x + p[6]
                    }
                return light.isFinite ? min(1, max(0, light)) : 0
            }
        }

        /// 15 bits before the point with a sign, 16 behind it.
        private func fixed(_ offset: Int) -> Double {
            Double(Int32(truncatingIfNeeded: number(offset, 4))) / 65_536
        }

        private func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
