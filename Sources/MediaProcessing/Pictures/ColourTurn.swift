import Glibc
import JPEG
import SafeArithmetic

/// Brings the components of a picture from other luma weights and other primaries to those of a JPEG in sRGB.
///
/// The squares that share a sample of chroma are worked on at once, exactly, not by a table of colours.
struct ColourTurn {
    /// Light has so many steps.
    static let lightBits = 14
    // Bounded: our own.
    static let lightMax = (1 << lightBits) - 1
    /// Behind the point of the numbers below.
    static let bits = 16
    /// Red, green and blue reach so far beyond a byte, on both sides.
    static let reach = 256

    /// Light of red, green and blue, for numbers from `-reach` to `255 + reach`, one colour behind the other.
    private let light: [Int32]
    /// From light to light, nine numbers.
    private let mix: [Int32]
    /// A byte for each step of light.
    private let bytes: [UInt8]
    /// What chroma adds: red's to red, blue's and red's to green, blue's to blue.
    private let chroma: [Int32]

    // Bounded throughout: floating point; curves go from 0 to 1 (`DisplayProfile`), weights are those of `LumaWeights`,
    // and the mix is held to -4...4. Both planes are in memory, the part as large as the full one or half of it,
    // rounded up.

    /// Without a profile the primaries stay.
    // Bounded throughout: one of 0 to 1 times 255, and weights of 0 to 1 times 2^bits; both fit 32 bits.
    init(from weights: LumaWeights, profile: DisplayProfile?) {
        let curve = (0...255).map { Self.linear(Double($0) / 255) }
        let curves = profile?.curves ?? [curve, curve, curve]
        let (lowest, highest) = (-Self.reach, 255 + Self.reach)
        light = curves.flatMap { curve in
            (lowest...highest).map { Int32(clamping: (curve[max(0, min(255, $0))] * Double(Self.lightMax)).rounded()) }
        }
        mix = (profile.map(Self.toSRGB) ?? [1, 0, 0, 0, 1, 0, 0, 0, 1]).map {
            Int32(clamping: (max(-4, min(4, $0)) * Double(1 << Self.lightBits)).rounded())
        }
        bytes = (0...Self.lightMax).map { UInt8((Self.coded(Double($0) / Double(Self.lightMax)) * 255).rounded()) }
        let green = 1 - weights.red - weights.blue
        chroma = [
            2 * (1 - weights.red), -2 * weights.blue * (1 - weights.blue) / green,
            -2 * weights.red * (1 - weights.red) / green, 2 * (1 - weights.blue),
        ].map { Int32(($0 * Double(1 << Self.bits)).rounded()) }
    }

    /// IEC 61966-2-1.
    private static func linear(_ coded: Double) -> Double {
        coded <= 0.04045 ? coded / 12.92 : pow((coded + 0.055) / 1.055, 2.4)
    }

    private static func coded(_ linear: Double) -> Double {
        linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
    }

    /// From XYZ under D50 to linear sRGB: the inverse of what sRGB's own profile says.
    private static let fromXYZ = [
        [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427],
    ]

    private static func toSRGB(_ profile: DisplayProfile) -> [Double] {
        fromXYZ.flatMap { row in
            profile.primaries.map { primary in zip(row, primary).reduce(0) { $0 + $1.0 * $1.1 } }
        }
    }

    /// The same components, of the same sizes.
    func apply(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        var (luma, blue, red) = (planes[0].samples, planes[1].samples, planes[2].samples)
        let (full, part) = (planes[0], planes[1])
        unsafe luma.withUnsafeMutableBufferPointer { luma in
            unsafe blue.withUnsafeMutableBufferPointer { blue in
                unsafe red.withUnsafeMutableBufferPointer { red in
                    withTables { tables in unsafe Self.apply(tables, full, part, luma, blue, red) }
                }
            }
        }
        return [
            JPEGPlane(width: full.width, height: full.height, samples: luma),
            JPEGPlane(width: part.width, height: part.height, samples: blue),
            JPEGPlane(width: part.width, height: part.height, samples: red),
        ]
    }

    private func withTables(_ body: (ColourTables) -> Void) {
        unsafe light.withUnsafeBufferPointer { light in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                body(unsafe ColourTables(light: light, bytes: bytes, mix: mix, chroma: chroma))
            }
        }
    }

    private static func apply(
        _ tables: ColourTables, _ full: JPEGPlane, _ part: JPEGPlane, _ luma: UnsafeMutableBufferPointer<UInt8>,
        _ blue: UnsafeMutableBufferPointer<UInt8>, _ red: UnsafeMutableBufferPointer<UInt8>
    ) {
        let (width, height) = (full.width, full.height)
        let across = width > part.width ? 2 : 1
        let down = height > part.height ? 2 : 1
        for row in 0..<part.height {
            let rows = (row * down)..<min(row * down + down, height)
            for column in 0..<part.width {
                let columns = (column &* across)..<min(column &* across &+ across, width)
                let place = row &* part.width &+ column
                unsafe tables.turn(
                    luma, width: width, rows: rows, columns: columns, blue: &blue[place], red: &red[place])
            }
        }
    }
}
