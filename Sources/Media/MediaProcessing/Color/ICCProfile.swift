import Glibc
import SafeArithmetic

/// Reads ICC color profiles, also in the parts that a JPEG stores.
///
/// Source: ICC.1:2010, 7.2 (header), 7.3 (tags) and B.4 (in JPEG).
enum ICCProfile {
    /// Marker, length, `ICC_PROFILE`, part number and number of parts.
    private static let partHeaderBytes = 18
    /// Part numbers have one byte, so a profile has at most 16 MB.
    static let partsMax = 255
    /// Maximum number of tags; a display profile has a few dozen.
    private static let tagsMax = 100
    /// Bytes of the description that are searched.
    private static let descriptionBytesMax = 256

    // Bounded throughout: tags are counted before they are read, numbers have four bytes, parts of a segment one, and
    // what is read lies in memory.

    /// Joins the parts of a profile in the order of their numbers; nil when one is missing or occurs twice.
    static func joined(_ segments: [[UInt8]]) -> [UInt8]? {
        var parts: [Int: ArraySlice<UInt8>] = [:]
        guard (1...partsMax).contains(segments.count) else { return nil }
        for segment in segments {
            guard segment.count > partHeaderBytes, Int(segment[partHeaderBytes - 1]) == segments.count,
                parts.updateValue(segment[partHeaderBytes...], forKey: Int(segment[partHeaderBytes - 2])) == nil
            else { return nil }
        }
        guard parts.keys.sorted() == Array(1...segments.count) else { return nil }
        return (1...segments.count).flatMap { parts[$0] ?? [] }
    }

    /// Whether its description contains "sRGB", as the profiles of cameras and editors do: no conversion is needed.
    static func isSRGB(_ profile: [UInt8]) -> Bool {
        guard let tags = tags(profile), profile[16..<20].elementsEqual("RGB ".utf8), let range = tags["desc"] else {
            return false
        }
        // The description may have one or two bytes per letter.
        let letters = profile[range.prefix(descriptionBytesMax)].filter { $0 != 0 }
        return String(decoding: letters, as: UTF8.self).contains("sRGB")
    }

    /// The range of each tag; nil for data that is not a profile, or is truncated.
    static func tags(_ profile: [UInt8]) -> [String: Range<Int>]? {
        guard profile.count > 132 else { return nil }
        let count = number(profile, at: 128)
        guard (1...tagsMax).contains(count), 132 + count * 12 <= profile.count else { return nil }
        var ranges: [String: Range<Int>] = [:]
        for index in 0..<count {
            let entry = 132 + index * 12
            let (offset, length) = (number(profile, at: entry + 4), number(profile, at: entry + 8))
            guard offset <= profile.count, length <= profile.count - offset else { return nil }
            ranges[String(decoding: profile[entry..<(entry + 4)], as: UTF8.self)] = offset..<(offset + length)
        }
        return ranges
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// A color profile of three primaries and three tone curves, as displays have: Display P3, Adobe RGB.
///
/// Source: ICC.1:2010, 8.4.3 (three-component matrix-based profiles), 10.6 (`curv`), 10.18 (`para`).
struct MatrixProfile {
    /// Linear light from 0 to 1 of each primary for each byte value.
    let curves: [[Double]]
    /// Columns of XYZ under D50: red, green, blue.
    let primaries: [[Double]]

    init(_ description: ColorDescription) {
        let curve = (0...255).map { description.curve.light(Double($0) / 255) }
        curves = [curve, curve, curve]
        primaries = description.primaries.columns()
    }

    /// Nil for another kind of profile, and for a corrupt one.
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

        // Bounded throughout: tags lie in the profile (`ICCProfile.tags`), and what is read lies in its tag, as `type`
        // and each count check. Numbers have four bytes; the rest is floating point.

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
            let count = number(tag.lowerBound + 8, count: 4)
            guard count <= (tag.count - 12) / 2 else { return nil }
            let points = (0..<count).map { Double(number(tag.lowerBound + 12 + $0 * 2, count: 2)) }
            return (0...255).map { value in
                let share = Double(value) / 255
                if count == 0 { return share }
                if count == 1 { return pow(share, points[0] / 256) }
                let position = share * Double(count - 1)
                let below = min(Int(clamping: position), count - 2)
                let part = position - Double(below)
                return (points[below] * (1 - part) + points[below + 1] * part) / 65_535
            }
        }

        /// The parameters of each of the five functions, in the order of the tag: g, a, b, c, d, e, f.
        private func parametric(_ tag: Range<Int>) -> [Double]? {
            let function = number(tag.lowerBound + 8, count: 2)
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

        /// Signed fixed-point number with 16 fractional bits.
        private func fixed(_ offset: Int) -> Double {
            Double(Int32(truncatingIfNeeded: number(offset, count: 4))) / 65_536
        }

        private func number(_ offset: Int, count: Int) -> Int {
            bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
        }
    }
}
