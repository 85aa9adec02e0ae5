import Foundation

/// Converts between stored samples and light, so that pixels of different brightness can be averaged as an eye does.
///
/// Averages of stored samples make fine contrast, such as leaves against the sky, too dark. Luma is converted as if it
/// were gray, and chroma is averaged as it is stored, which comes near to red, green and blue in light: photographs
/// reduced so have an SSIMULACRA2 of 91 to 95 (`docs/explanation/stills.md`).
///
/// Source: IEC 61966-2-1, sRGB.
enum LightCurve {
    /// Bits of light: a step near black is less than one of a stored sample.
    static let bits = 12

    /// The light of each stored sample, from 0 to 1.
    static let light: [Float] = (0..<256).map { Float(light(Double($0) / 255)) }

    /// The same in 65,535ths.
    static let light16: [UInt16] = (0..<256).map { UInt16((light(Double($0) / 255) * 65_535).rounded()) }

    /// The stored sample of each light from 0 to 1, in steps of `bits`.
    static let samples: [UInt8] = (0..<(1 << bits)).map { step in
        UInt8((stored(Double(step) / Double(1 << bits - 1)) * 255).rounded())
    }

    private static func light(_ stored: Double) -> Double {
        stored <= 0.04045 ? stored / 12.92 : pow((stored + 0.055) / 1.055, 2.4)
    }

    private static func stored(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
