import Glibc
import MediaLibraries
import SafeArithmetic

/// Converts the components of an image from other luma coefficients and primaries to those of a JPEG in sRGB.
///
/// The luma samples that share a chroma sample are converted together, exactly, not with a color lookup table.
struct ColorMatrix {
    /// Bits of a linear light value.
    static let lightBits = 14
    static let lightMax = (1 << lightBits) - 1
    /// Fractional bits of the factors below.
    static let bits = 16
    /// How far red, green and blue may exceed a byte, on both sides.
    static let reach = 256

    /// Linear light of red, green and blue, for values from `-reach` to `255 + reach`, one color after another.
    private let light: [Int32]
    /// The 3 x 3 matrix from linear light to linear light.
    private let mix: [Int32]
    /// The sRGB byte of each linear light value.
    private let bytes: [UInt8]
    /// Contributions of chroma: Cr to red, Cb and Cr to green, Cb to blue.
    private let chroma: [Int32]

    /// Without a profile the primaries are not changed.
    init(from weights: LumaCoefficients, profile: MatrixProfile?) {
        let curve = (0...255).map { Self.linear(Double($0) / 255) }
        let curves = profile?.curves ?? [curve, curve, curve]
        let (lowest, highest) = (-Self.reach, 255 + Self.reach)
        light = curves.flatMap { curve in
            (lowest...highest).map { Int32(clamping: (curve[max(0, min(255, $0))] * Double(Self.lightMax)).rounded()) }
        }
        mix = (profile.map { Self.rowsToSRGB($0.primaries).flatMap { $0 } } ?? [1, 0, 0, 0, 1, 0, 0, 0, 1]).map {
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

    static func coded(_ linear: Double) -> Double {
        linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
    }

    /// From XYZ under D50 to linear sRGB: the inverse of the sRGB profile's matrix.
    private static let fromXYZ = [
        [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427],
    ]

    /// The factors of a source's red, green and blue light in sRGB's red, green and blue.
    ///
    /// - Parameter primaries: Columns of XYZ under D50: red, green, blue.
    static func rowsToSRGB(_ primaries: [[Double]]) -> [[Double]] {
        fromXYZ.map { row in primaries.map { primary in zip(row, primary).reduce(0) { $0 + $1.0 * $1.1 } } }
    }

    /// Returns the converted components, with the same sizes.
    func apply(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        var (luma, blue, red) = (planes[0].samples, planes[1].samples, planes[2].samples)
        let (full, part) = (planes[0], planes[1])
        unsafe luma.withUnsafeMutableBufferPointer { luma in
            unsafe blue.withUnsafeMutableBufferPointer { blue in
                unsafe red.withUnsafeMutableBufferPointer { red in
                    withTables { tables in
                        unsafe Self.apply(tables, full: full, part: part, luma: luma, blue: blue, red: red)
                    }
                }
            }
        }
        return [
            JPEGPlane(width: full.width, height: full.height, samples: luma),
            JPEGPlane(width: part.width, height: part.height, samples: blue),
            JPEGPlane(width: part.width, height: part.height, samples: red),
        ]
    }

    private func withTables(_ body: (ColorMatrixTables) -> Void) {
        unsafe light.withUnsafeBufferPointer { light in
            unsafe bytes.withUnsafeBufferPointer { bytes in
                body(unsafe ColorMatrixTables(light: light, bytes: bytes, mix: mix, chroma: chroma))
            }
        }
    }

    private static func apply(
        _ tables: ColorMatrixTables, full: JPEGPlane, part: JPEGPlane, luma: UnsafeMutableBufferPointer<UInt8>,
        blue: UnsafeMutableBufferPointer<UInt8>, red: UnsafeMutableBufferPointer<UInt8>
    ) {
        let (width, height) = (full.width, full.height)
        let horizontalSubsampling = width > part.width ? 2 : 1
        let verticalSubsampling = height > part.height ? 2 : 1
        for row in 0..<part.height {
            let rows = (row * verticalSubsampling)..<min(row * verticalSubsampling + verticalSubsampling, height)
            for column in 0..<part.width {
                let left = column &* horizontalSubsampling
                let columns = left..<min(left &+ horizontalSubsampling, width)
                let index = row &* part.width &+ column
                unsafe tables.convert(
                    luma, width: width, rows: rows, columns: columns, blue: &blue[index], red: &red[index])
            }
        }
    }
}

/// `ColorMatrix`'s tables without bounds checks: each index is limited to its table first.
@safe struct ColorMatrixTables {
    let light: UnsafeBufferPointer<Int32>
    let bytes: UnsafeBufferPointer<UInt8>
    private let ownRed: SIMD4<Int32>
    private let ownGreen: SIMD4<Int32>
    private let ownBlue: SIMD4<Int32>
    private let redOfRed: Int32
    private let greenOfBlue: Int32
    private let greenOfRed: Int32
    private let blueOfBlue: Int32

    init(light: UnsafeBufferPointer<Int32>, bytes: UnsafeBufferPointer<UInt8>, mix: [Int32], chroma: [Int32]) {
        unsafe (self.light, self.bytes) = (light, bytes)
        ownRed = SIMD4(mix[0], mix[3], mix[6], 0)
        ownGreen = SIMD4(mix[1], mix[4], mix[7], 0)
        ownBlue = SIMD4(mix[2], mix[5], mix[8], 0)
        (redOfRed, greenOfBlue, greenOfRed, blueOfBlue) = (chroma[0], chroma[1], chroma[2], chroma[3])
    }

    /// Converts one sample of each chroma plane and the luma samples it covers.
    @inline(__always)
    func convert(
        _ luma: UnsafeMutableBufferPointer<UInt8>, width: Int, rows: Range<Int>, columns: Range<Int>,
        blue: inout UInt8, red: inout UInt8
    ) {
        let (cb, cr) = (Int32(blue) &- 128, Int32(red) &- 128)
        let half = Int32(1) << Int32(ColorMatrix.bits - 1)
        let (one, entries) = (Int32(ColorMatrix.bits), 256 + 2 * ColorMatrix.reach)
        let redIndex = Int((redOfRed &* cr &+ half) >> one) + ColorMatrix.reach
        let greenIndex = Int((greenOfBlue &* cb &+ greenOfRed &* cr &+ half) >> one) + ColorMatrix.reach + entries
        let blueIndex = Int((blueOfBlue &* cb &+ half) >> one) + ColorMatrix.reach + 2 * entries
        var (reds, greens, blues): (Int32, Int32, Int32) = (0, 0, 0)
        for row in rows {
            for column in columns {
                let index = row &* width &+ column
                let y = unsafe Int(luma[index])
                let sum =
                    unsafe ownRed &* light[redIndex &+ y] &+ ownGreen &* light[greenIndex &+ y]
                    &+ ownBlue &* light[blueIndex &+ y]
                let most = Int32(ColorMatrix.lightMax)
                let steps = (sum &>> Int32(ColorMatrix.lightBits)).clamped(
                    lowerBound: SIMD4(repeating: 0), upperBound: SIMD4(repeating: most))
                let (r, g, b) = unsafe (
                    Int32(bytes[Int(steps[0])]), Int32(bytes[Int(steps[1])]), Int32(bytes[Int(steps[2])])
                )
                unsafe luma[index] = UInt8(
                    truncatingIfNeeded: (19_595 &* r &+ 38_470 &* g &+ 7_471 &* b &+ 32_768) >> 16)
                (reds, greens, blues) = (reds &+ r, greens &+ g, blues &+ b)
            }
        }
        let count = Int32(rows.count &* columns.count)
        blue = Self.chroma(-11_059 &* reds &- 21_709 &* greens &+ 32_768 &* blues, of: count)
        red = Self.chroma(32_768 &* reds &- 27_439 &* greens &- 5_329 &* blues, of: count)
    }

    /// The mean chroma of `count` pixels, from a sum with 16 fractional bits.
    private static func chroma(_ sum: Int32, of count: Int32) -> UInt8 {
        let mean = count == 4 ? sum >> 2 : sum / count
        return UInt8(truncatingIfNeeded: max(0, min(255, ((mean &+ 32_768) >> 16) &+ 128)))
    }
}

/// The weights of red and blue in luma; green has the rest.
///
/// Source: ISO/IEC 23091-2, 8.3, "MatrixCoefficients".
struct LumaCoefficients: Hashable {
    let red: Double
    let blue: Double

    /// BT.601's, which JFIF uses.
    static let jpeg = LumaCoefficients(red: 0.299, blue: 0.114)

    private init(red: Double, blue: Double) { (self.red, self.blue) = (red, blue) }

    /// Nil for code points other than luma with two color differences.
    init?(code: Int) {
        switch code {
        case 1: self.init(red: 0.2126, blue: 0.0722)
        case 2, 5, 6: self = .jpeg
        case 4: self.init(red: 0.30, blue: 0.11)
        case 7: self.init(red: 0.212, blue: 0.087)
        case 9: self.init(red: 0.2627, blue: 0.0593)
        default: return nil
        }
    }
}
