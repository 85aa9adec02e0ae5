import Glibc
import MediaLibraries
import SafeArithmetic

/// The colors that a file declares by numbers instead of an ICC profile: primaries, white and curve.
///
/// Source: ISO/IEC 23091-2 (ITU-T H.273), 8.1 and 8.2 (code points).
// Bounded throughout: floating-point numbers, and offsets in a profile of at most 25 KB.
struct ColorDescription: Sendable, Hashable {
    let primaries: ColorPrimaries
    let curve: TransferCurve

    init(primaries: ColorPrimaries, curve: TransferCurve) {
        self.primaries = primaries
        self.curve = curve
    }

    /// Of code points; those that are unspecified or reserved stand for sRGB.
    init(primaries: Int, transfer: Int) {
        let curve = TransferCurve(code: transfer)
        self.curve = curve
        // Of HDR whose primaries are unspecified, BT.2020's are used.
        self.primaries = ColorPrimaries(code: primaries) ?? (curve.hdr == nil ? .bt709 : .bt2020)
    }

    /// Whether pixels are shown as they are.
    var isSRGB: Bool { curve == .sRGB && primaries == .bt709 }

    /// An ICC profile with the same meaning; nil for PQ and HLG, which have to be tone-mapped.
    ///
    /// Source: ICC.1:2010, 7 (header and tags), 8.3 and 8.4 (display profiles), 10.5 (`curv`), 10.27 (`XYZ`).
    func profile(isGray: Bool) -> [UInt8]? {
        guard curve.hdr == nil else { return nil }
        let curve = Self.curve(self.curve)
        let white = Self.point(ColorPrimaries.whiteD50)
        let colors = zip(["rXYZ", "gXYZ", "bXYZ"], primaries.columns()).map { ($0, Self.point($1)) }
        let curves = (isGray ? ["kTRC"] : ["rTRC", "gTRC", "bTRC"]).map { ($0, curve) }
        let tags = [("wtpt", white)] + (isGray ? [] : colors) + curves
        var offset = 132 + 12 * tags.count
        var (table, content) = ([UInt8](), [UInt8]())
        for (name, bytes) in tags {
            table += Array(name.utf8) + Self.number(offset, bytes: 4) + Self.number(bytes.count, bytes: 4)
            content += bytes
            offset += bytes.count
        }
        let header =
            Self.number(offset, bytes: 4) + Self.number(0, bytes: 4) + [2, 0x40, 0, 0]
            + Array("mntr\(isGray ? "GRAY" : "RGB ")XYZ ".utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
            + [UInt8](repeating: 0, count: 28) + white.dropFirst(8) + [UInt8](repeating: 0, count: 48)
        return header + Self.number(tags.count, bytes: 4) + table + content
    }

    /// Points of the curve in a profile.
    private static let curvePoints = 4_096

    private static func curve(_ curve: TransferCurve) -> [UInt8] {
        let points = (0..<curvePoints).flatMap { index -> [UInt8] in
            number(Int(clamping: (curve.light(Double(index) / Double(curvePoints - 1)) * 65_535).rounded()), bytes: 2)
        }
        return Array("curv".utf8) + number(0, bytes: 4) + number(curvePoints, bytes: 4) + points
    }

    private static func point(_ xyz: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + number(0, bytes: 4)
            + xyz.flatMap { number(Int(clamping: ($0 * 65_536).rounded()), bytes: 4) }
    }

    private static func number(_ value: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
    }
}

/// The curve between stored values and light, both from 0 to 1.
// Bounded throughout: floating-point numbers.
enum TransferCurve: Sendable, Hashable {
    case sRGB, linear, smpte428
    /// Light is the value to the power of this.
    case power(Double)
    /// Light spans this number of decades.
    case logarithmic(decades: Double)
    case perceptualQuantizer, hybridLogGamma

    /// Of a code point. The curves of BT.709, BT.601 and BT.2020 (1, 6, 7, 11, 12, 14, 15) are those of cameras; stills
    /// with them are made for sRGB displays, as movies are, and phones label JPEG's colors so.
    init(code: Int) {
        self =
            switch code {
            case 4: .power(2.2)
            case 5: .power(2.8)
            case 8: .linear
            case 9: .logarithmic(decades: 2)
            case 10: .logarithmic(decades: 2.5)
            case 16: .perceptualQuantizer
            case 17: .smpte428
            case 18: .hybridLogGamma
            default: .sRGB
            }
    }

    /// The curve of HDR; nil for SDR.
    var hdr: StreamDescription.TransferFunction? {
        switch self {
        case .perceptualQuantizer: .perceptualQuantizer
        case .hybridLogGamma: .hybridLogGamma
        default: nil
        }
    }

    /// Light for a stored value, of SDR.
    func light(_ value: Double) -> Double {
        let light =
            switch self {
            case .sRGB: value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            case .power(let exponent): pow(value, exponent)
            case .logarithmic(let decades): value <= 0 ? 0 : pow(10, decades * (value - 1))
            case .smpte428: 52.37 / 48 * pow(value, 2.6)
            case .linear, .perceptualQuantizer, .hybridLogGamma: value
            }
        return min(1, max(0, light))
    }
}

/// Chromaticities of red, green, blue and white.
// Bounded throughout: floating-point numbers.
struct ColorPrimaries: Sendable, Hashable {
    struct Chromaticity: Sendable, Hashable {
        let x: Double
        let y: Double

        init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
    }

    let red: Chromaticity
    let green: Chromaticity
    let blue: Chromaticity
    let white: Chromaticity

    static let bt709 = ColorPrimaries(
        red: Chromaticity(0.64, 0.33), green: Chromaticity(0.3, 0.6), blue: Chromaticity(0.15, 0.06), white: d65)
    static let bt2020 = ColorPrimaries(
        red: Chromaticity(0.708, 0.292), green: Chromaticity(0.17, 0.797), blue: Chromaticity(0.131, 0.046), white: d65)
    static let displayP3 = ColorPrimaries(
        red: Chromaticity(0.68, 0.32), green: Chromaticity(0.265, 0.69), blue: Chromaticity(0.15, 0.06), white: d65)

    private static let d65 = Chromaticity(0.3127, 0.329)
    /// Illuminant C.
    private static let c = Chromaticity(0.31, 0.316)
    /// The white of ICC profiles, in XYZ.
    static let whiteD50 = [0.9642, 1, 0.8249]

    init(red: Chromaticity, green: Chromaticity, blue: Chromaticity, white: Chromaticity) {
        (self.red, self.green, self.blue, self.white) = (red, green, blue, white)
    }

    /// Of a code point; nil for one that is unspecified or reserved.
    init?(code: Int) {
        func colors(red: (Double, Double), green: (Double, Double), blue: (Double, Double), white: Chromaticity)
            -> ColorPrimaries
        {
            ColorPrimaries(
                red: Chromaticity(red.0, red.1), green: Chromaticity(green.0, green.1),
                blue: Chromaticity(blue.0, blue.1), white: white)
        }
        switch code {
        case 1: self = .bt709
        case 4: self = colors(red: (0.67, 0.33), green: (0.21, 0.71), blue: (0.14, 0.08), white: Self.c)
        case 5: self = colors(red: (0.64, 0.33), green: (0.29, 0.6), blue: (0.15, 0.06), white: Self.d65)
        case 6, 7: self = colors(red: (0.63, 0.34), green: (0.31, 0.595), blue: (0.155, 0.07), white: Self.d65)
        case 8: self = colors(red: (0.681, 0.319), green: (0.243, 0.692), blue: (0.145, 0.049), white: Self.c)
        case 9: self = .bt2020
        case 10: self = colors(red: (1, 0), green: (0, 1), blue: (0, 0), white: Chromaticity(1.0 / 3, 1.0 / 3))
        case 11:
            self = colors(
                red: (0.68, 0.32), green: (0.265, 0.69), blue: (0.15, 0.06), white: Chromaticity(0.314, 0.351))
        case 12: self = .displayP3
        case 22: self = colors(red: (0.63, 0.34), green: (0.295, 0.605), blue: (0.155, 0.077), white: Self.d65)
        default: return nil
        }
    }

    /// Whether the three are no line and white lies between them, so that each color has one meaning.
    var isValid: Bool {
        let amounts = Self.solved(columns: [red, green, blue].map(Self.xyz), Self.xyz(white, luminance: 1))
        return white.y > 0 && amounts?.allSatisfy { $0 > 0 && $0.isFinite } == true
    }

    /// XYZ of full red, green and blue light, with a luminance of 1 for white; under the white itself.
    func unadaptedColumns() -> [[Double]] {
        let directions = [red, green, blue].map(Self.xyz)
        let amounts = Self.solved(columns: directions, Self.xyz(white, luminance: 1)) ?? [1, 1, 1]
        return zip(directions, amounts).map { direction, amount in direction.map { $0 * amount } }
    }

    /// The same under D50, adapted by the Bradford transform, as in profiles (ICC.1:2010, annex E).
    func columns() -> [[Double]] {
        let rows = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
        let columns = (0..<3).map { index in rows.map { $0[index] } }
        func response(_ xyz: [Double]) -> [Double] { rows.map { zip($0, xyz).reduce(0) { $0 + $1.0 * $1.1 } } }
        let gains = zip(response(Self.whiteD50), response(Self.xyz(white, luminance: 1))).map { $0 / $1 }
        return unadaptedColumns().map { color in
            let adapted = zip(response(color), gains).map { $0 * $1 }
            return Self.solved(columns: columns, adapted) ?? color
        }
    }

    private static func xyz(_ point: Chromaticity) -> [Double] { [point.x, point.y, 1 - point.x - point.y] }

    private static func xyz(_ point: Chromaticity, luminance: Double) -> [Double] {
        xyz(point).map { $0 * luminance / point.y }
    }

    /// The factors with which three columns add up to a vector; nil for columns in a plane. By Cramer's rule.
    private static func solved(columns: [[Double]], _ vector: [Double]) -> [Double]? {
        func determinant(a: [Double], b: [Double], c: [Double]) -> Double {
            a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) + c[0] * (a[1] * b[2] - a[2] * b[1])
        }
        let (a, b, c) = (columns[0], columns[1], columns[2])
        let whole = determinant(a: a, b: b, c: c)
        guard abs(whole) > 1e-9 else { return nil }
        return [
            determinant(a: vector, b: b, c: c), determinant(a: a, b: vector, c: c), determinant(a: a, b: b, c: vector),
        ].map { $0 / whole }
    }
}
