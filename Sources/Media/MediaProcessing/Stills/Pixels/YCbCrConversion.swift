import MediaLibraries

/// Converts RGB to full-range luma and chroma, as a JPEG stores them. JFIF 1.02, "Conversion to and from RGB".
enum YCbCrConversion {
    /// The weights of red, green and blue with 16 fractional bits, and an offset.
    private struct Weights {
        let red: Int32
        let green: Int32
        let blue: Int32
        let start: Int32
    }

    private static let half: Int32 = 1 << 15
    private static let luma = Weights(red: 19_595, green: 38_470, blue: 7_471, start: half)
    private static let chroma = [
        Weights(red: -11_059, green: -21_709, blue: 32_768, start: 128 << 16 + half),
        Weights(red: 32_768, green: -27_439, blue: -5_329, start: 128 << 16 + half),
    ]

    /// Luma of planes of red, green and blue.
    static func luma(of colors: [JPEGPlane]) -> JPEGPlane { plane(colors, weights: luma) }

    /// Cb and Cr of planes of red, green and blue.
    static func chroma(of colors: [JPEGPlane]) -> [JPEGPlane] { chroma.map { plane(colors, weights: $0) } }

    private static func plane(_ colors: [JPEGPlane], weights: Weights) -> JPEGPlane {
        let count = colors[0].samples.count
        let samples = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            unsafe colors[0].samples.withUnsafeBufferPointer { red in
                unsafe colors[1].samples.withUnsafeBufferPointer { green in
                    unsafe colors[2].samples.withUnsafeBufferPointer { blue in
                        for index in 0..<count {
                            let sum =
                                unsafe weights.start &+ weights.red &* Int32(red[index])
                                &+ weights.green &* Int32(green[index]) &+ weights.blue &* Int32(blue[index])
                            // The sum of the positive weights is 1: only pure blue and pure red reach 256.
                            unsafe target[index] = UInt8(truncatingIfNeeded: min(sum >> 16, 255))
                        }
                    }
                }
            }
            filled = count
        }
        return JPEGPlane(width: colors[0].width, height: colors[0].height, samples: samples)
    }
}

/// Expands the limited range of movies (luma 16 to 235, chroma 16 to 240) to a JPEG's full range of 0 to 255.
///
/// Source: ISO/IEC 23091-2, 8.3, "VideoFullRangeFlag".
enum SampleRange {
    /// A linear function in 16-bit arithmetic, of which eight samples are computed at once.
    struct LinearExpansion {
        /// In 32,768ths.
        fileprivate let factor: UInt16
        /// The value that becomes 0, in 128ths of a step, less the half that rounds.
        fileprivate let zero: UInt16

        /// Scales by 255 / 219 from 16 on.
        static let luma = LinearExpansion(factor: 38_155, zero: 2_321)
        /// Scales by 255 / 224 around 128.
        static let chroma = LinearExpansion(factor: 37_303, zero: 2_203)
    }

    static func full(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        planes.enumerated().map { number, plane in
            var samples = plane.samples
            expand(&samples, by: number == 0 ? .luma : .chroma)
            return JPEGPlane(width: plane.width, height: plane.height, samples: samples)
        }
    }

    /// Expands samples in place.
    static func expand(_ samples: inout [UInt8], by expand: LinearExpansion) {
        unsafe samples.withUnsafeMutableBufferPointer { samples in
            for index in 0..<samples.count {
                let sample = unsafe UInt32(samples[index]) &<< 8
                let scaled = UInt16(truncatingIfNeeded: (sample &* UInt32(expand.factor)) &>> 16)
                let above = scaled > expand.zero ? (scaled &- expand.zero) &>> 7 : 0
                unsafe samples[index] = UInt8(truncatingIfNeeded: above < 255 ? above : 255)
            }
        }
    }
}
