import Foundation
package import LibAV
import SafeArithmetic

/// Brings HDR pictures (PQ or HLG, BT.2020) down to sRGB.
///
/// The brightest component decides by how much a pixel is dimmed, so hues stay; the curve is that of ITU-R BT.2390-10,
/// 5.4.1, from 1,000 nits to the 203 nits of reference white (BT.2408). Everything that needs a power is a table.
package struct ToneMap: Sendable {
    /// What phones and most films are graded for.
    private static let sourcePeakNits = 1000.0
    /// BT.2408: where diffuse white stands in HDR, and what SDR's white becomes.
    private static let whiteNits = 203.0
    private static let pqPeakNits = 10_000.0
    private static let codes = 4096
    private static let encodings = 8192

    private let isHybridLogGamma: Bool
    /// Code value to nits (PQ), or to scene light from 0 to 1 (HLG).
    private let linear: [Float]
    /// Scene luminance to the factor of HLG's system gamma, in nits.
    private let systemGamma: [Float]
    /// Square root of the brightest component to what it is multiplied with, white being 1.
    private let gain: [Float]
    /// Linear light to sRGB.
    private let encoded: [UInt8]

    // Bounded throughout: floating point.
    package init(_ transfer: StreamDescription.Transfer) {
        isHybridLogGamma = transfer == .hybridLogGamma
        let last = Double(Self.codes - 1)
        let decode = isHybridLogGamma ? Self.sceneLight : Self.nits
        linear = (0..<Self.codes).map { Float(decode(Double($0) / last)) }
        systemGamma = (0..<Self.codes).map { Float(Self.sourcePeakNits * pow(Double($0) / last, 0.2)) }
        gain = (0..<Self.codes).map { Float(Self.gain(ofNits: pow(Double($0) / last, 2) * Self.pqPeakNits)) }
        encoded = (0..<Self.encodings).map { Self.sRGB(Double($0) / Double(Self.encodings - 1)) }
    }

    /// SMPTE ST 2084's curve: code value from 0 to 1 to nits.
    // Bounded throughout: floating point.
    static func nits(_ code: Double) -> Double {
        let power = pow(code, 1 / 78.84375)
        return pqPeakNits * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
    }

    /// The inverse: nits to a code value from 0 to 1.
    // Bounded throughout: floating point.
    static func perceptual(_ nits: Double) -> Double {
        let power = pow(max(nits, 0) / pqPeakNits, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// ARIB STD-B67's inverse curve: code value from 0 to 1 to scene light from 0 to 1.
    // Bounded throughout: floating point.
    private static func sceneLight(_ code: Double) -> Double {
        code <= 0.5 ? code * code / 3 : (exp((code - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }

    // Bounded throughout: floating point.
    private static func gain(ofNits nits: Double) -> Double {
        nits <= 0 ? 1 / whiteNits : toneMapped(nits) / nits / whiteNits
    }

    /// BT.2390's knee: what is dark stays, what is bright is rolled off to white.
    // Bounded throughout: floating point.
    static func toneMapped(_ nits: Double) -> Double {
        let peak = perceptual(sourcePeakNits)
        let target = perceptual(whiteNits) / peak
        let source = min(1, perceptual(nits) / peak)
        let knee = 1.5 * target - 0.5
        if source < knee { return nits }
        let t = (source - knee) / (1 - knee)
        let (t2, t3) = (t * t, t * t * t)
        let mapped = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * target
        return Self.nits(mapped * peak)
    }

    // Bounded throughout: floating point.
    private static func sRGB(_ light: Double) -> UInt8 {
        let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
        return UInt8(clamping: (value * 255).rounded())
    }

    /// - Parameter pixels: 16 bits a component in little-endian order, red, green, blue.
    /// - Returns: 8 bits a component.
    // Bounded throughout: as many pixels as are in the array.
    package func sRGB(ofRGB16 pixels: [UInt8]) -> [UInt8] {
        let count = pixels.count / 6
        return unsafe [UInt8](unsafeUninitializedCapacity: count * 3) { output, filled in
            unsafe pixels.withUnsafeBytes { input in unsafe map(input, into: output, count: count) }
            filled = count * 3
        }
    }

    // Bounded throughout: as many pixels as are in both buffers; a code has 12 bits, as the table has.
    private func map(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, count: Int) {
        for pixel in 0..<count {
            func component(_ index: Int) -> Float {
                let code = unsafe input.loadUnaligned(fromByteOffset: pixel * 6 + index * 2, as: UInt16.self)
                return linear[Int(UInt16(littleEndian: code) >> 4)]
            }
            let (red, green, blue) = displayed(component(0), component(1), component(2))
            unsafe output[pixel * 3] = encode(1.660491 * red - 0.587641 * green - 0.072850 * blue)
            unsafe output[pixel * 3 + 1] = encode(-0.124550 * red + 1.132900 * green - 0.008349 * blue)
            unsafe output[pixel * 3 + 2] = encode(-0.018151 * red - 0.100579 * green + 1.118730 * blue)
        }
    }

    /// Light of the display, white being 1, still in BT.2020's primaries.
    // Bounded throughout: light is finite, out of a table, and brought to 1 at most before it is an index.
    private func displayed(_ red: Float, _ green: Float, _ blue: Float) -> (Float, Float, Float) {
        var nits: Float = 1
        if isHybridLogGamma {
            let luminance = 0.2627 * red + 0.678 * green + 0.0593 * blue
            nits = systemGamma[Int(min(1, luminance) * Float(Self.codes - 1))]
        }
        let brightest = max(red, green, blue) * nits
        let position = (brightest / Float(Self.pqPeakNits)).squareRoot()
        let factor = nits * gain[Int(min(1, position) * Float(Self.codes - 1))]
        return (red * factor, green * factor, blue * factor)
    }

    // Bounded throughout: light is finite, and brought to 1 at most before it is an index.
    private func encode(_ light: Float) -> UInt8 {
        encoded[Int(min(1, max(0, light)) * Float(Self.encodings - 1) + 0.5)]
    }
}
