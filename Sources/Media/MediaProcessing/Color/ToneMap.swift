import Foundation
package import MediaLibraries
import SafeArithmetic

/// Tone-maps HDR frames (PQ or HLG, BT.2020) to sRGB.
///
/// The brightest component determines how much a pixel is dimmed, which preserves hues; the curve is that of
/// ITU-R BT.2390-10, 5.4.1, from 1,000 nits to the 203 nits of reference white (BT.2408). Power functions are
/// tabulated.
package struct ToneMap: Sendable {
    /// Peak luminance of the source: phones and most films are graded for it.
    private static let sourcePeakNits = 1000.0
    /// BT.2408: luminance of diffuse white in HDR, which becomes SDR white.
    private static let whiteNits = 203.0
    private static let pqPeakNits = 10_000.0
    private static let codes = 4096
    private static let encodings = 8192

    private let isHybridLogGamma: Bool
    private let gamut: SourceGamut
    /// Maps code values to nits (PQ), or to scene light from 0 to 1 (HLG).
    private let linear: [Float]
    /// Maps scene luminance to the factor of HLG's system gamma, in nits.
    private let systemGamma: [Float]
    /// Maps the square root of the brightest component to its gain, with white at 1.
    private let gain: [Float]
    /// Maps linear light to sRGB.
    private let encoded: [UInt8]

    package init(_ transfer: StreamDescription.TransferFunction) { self.init(transfer, .bt2020) }

    init(_ transfer: StreamDescription.TransferFunction, _ primaries: ColorPrimaries) {
        gamut = SourceGamut(primaries)
        isHybridLogGamma = transfer == .hybridLogGamma
        let last = Double(Self.codes - 1)
        let decode = isHybridLogGamma ? Self.sceneLight : Self.nits
        linear = (0..<Self.codes).map { Float(decode(Double($0) / last)) }
        systemGamma = (0..<Self.codes).map { Float(Self.sourcePeakNits * pow(Double($0) / last, 0.2)) }
        gain = (0..<Self.codes).map { Float(Self.gain(ofNits: pow(Double($0) / last, 2) * Self.pqPeakNits)) }
        encoded = (0..<Self.encodings).map { Self.sRGB(Double($0) / Double(Self.encodings - 1)) }
    }

    /// SMPTE ST 2084's curve: code value from 0 to 1 to nits.
    static func nits(_ code: Double) -> Double {
        let power = pow(code, 1 / 78.84375)
        return pqPeakNits * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
    }

    /// Inverse of `nits`: nits to a code value from 0 to 1.
    static func perceptual(_ nits: Double) -> Double {
        let power = pow(max(nits, 0) / pqPeakNits, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// ARIB STD-B67's inverse curve: code value from 0 to 1 to scene light from 0 to 1.
    private static func sceneLight(_ code: Double) -> Double {
        code <= 0.5 ? code * code / 3 : (exp((code - 0.55991073) / 0.17883277) + 0.28466892) / 12
    }

    private static func gain(ofNits nits: Double) -> Double {
        nits <= 0 ? 1 / whiteNits : toneMapped(nits) / nits / whiteNits
    }

    /// BT.2390's knee: dark values are kept, bright ones are compressed to white.
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

    private static func sRGB(_ light: Double) -> UInt8 {
        let value = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
        return UInt8(clamping: (value * 255).rounded())
    }

    /// - Parameter pixels: Red, green and blue, 16 bits per component in little-endian order.
    /// - Returns: 8 bits per component.
    package func sRGB(ofRGB16 pixels: [UInt8]) -> [UInt8] {
        let count = pixels.count / 6
        return unsafe [UInt8](unsafeUninitializedCapacity: count * 3) { output, filled in
            unsafe pixels.withUnsafeBytes { input in unsafe map(input, into: output, count: count) }
            filled = count * 3
        }
    }

    private func map(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>, count: Int) {
        for pixel in 0..<count {
            func component(_ index: Int) -> Float {
                let code = unsafe input.loadUnaligned(fromByteOffset: pixel * 6 + index * 2, as: UInt16.self)
                return linear[Int(UInt16(littleEndian: code) >> 4)]
            }
            let (red, green, blue) = displayed(red: component(0), green: component(1), blue: component(2))
            unsafe output[pixel * 3] = encode(gamut.red.sum(red: red, green: green, blue: blue))
            unsafe output[pixel * 3 + 1] = encode(gamut.green.sum(red: red, green: green, blue: blue))
            unsafe output[pixel * 3 + 2] = encode(gamut.blue.sum(red: red, green: green, blue: blue))
        }
    }

    /// Display light in the source's primaries, with white at 1.
    private func displayed(red: Float, green: Float, blue: Float) -> (Float, Float, Float) {
        var nits: Float = 1
        if isHybridLogGamma {
            let luminance = gamut.luminance.sum(red: red, green: green, blue: blue)
            nits = systemGamma[Int(min(1, luminance) * Float(Self.codes - 1))]
        }
        let brightest = max(red, green, blue) * nits
        let position = (brightest / Float(Self.pqPeakNits)).squareRoot()
        let factor = nits * gain[Int(min(1, position) * Float(Self.codes - 1))]
        return (red * factor, green * factor, blue * factor)
    }

    private func encode(_ light: Float) -> UInt8 {
        encoded[Int(min(1, max(0, light)) * Float(Self.encodings - 1) + 0.5)]
    }
}

/// How linear light in the source's primaries becomes linear light in sRGB's.
private struct SourceGamut: Sendable {
    /// The factors of red, green and blue light in a sum.
    struct Weights: Sendable {
        let red: Float
        let green: Float
        let blue: Float

        init(_ factors: [Double]) { (red, green, blue) = (Float(factors[0]), Float(factors[1]), Float(factors[2])) }

        func sum(red: Float, green: Float, blue: Float) -> Float {
            self.red * red + self.green * green + self.blue * blue
        }
    }

    let red: Weights
    let green: Weights
    let blue: Weights
    let luminance: Weights

    init(_ primaries: ColorPrimaries) {
        let rows = ColorMatrix.rowsToSRGB(primaries.columns())
        (red, green, blue) = (Weights(rows[0]), Weights(rows[1]), Weights(rows[2]))
        luminance = Weights(primaries.unadaptedColumns().map { $0[1] })
    }
}
