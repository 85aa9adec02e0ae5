import JPEG

/// Red, green and blue as a JPEG stores them: luma and chroma, full range. JFIF 1.02, "Conversion to and from RGB".
enum LumaAndChroma {
    /// What red, green and blue weigh, with 16 bits behind the point, and what is added.
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

    /// Of planes of red, green and blue.
    static func luma(of colours: [JPEGPlane]) -> JPEGPlane { plane(colours, luma) }

    /// Cb and Cr, of planes of red, green and blue.
    static func chroma(of colours: [JPEGPlane]) -> [JPEGPlane] { chroma.map { plane(colours, $0) } }

    private static func plane(_ colours: [JPEGPlane], _ weights: Weights) -> JPEGPlane {
        let count = colours[0].samples.count
        let samples = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            unsafe colours[0].samples.withUnsafeBufferPointer { red in
                unsafe colours[1].samples.withUnsafeBufferPointer { green in
                    unsafe colours[2].samples.withUnsafeBufferPointer { blue in
                        for place in 0..<count {
                            let sum =
                                unsafe weights.start &+ weights.red &* Int32(red[place])
                                &+ weights.green &* Int32(green[place]) &+ weights.blue &* Int32(blue[place])
                            // The weights are one together: only pure blue and pure red reach 256.
                            unsafe target[place] = UInt8(truncatingIfNeeded: min(sum >> 16, 255))
                        }
                    }
                }
            }
            filled = count
        }
        return JPEGPlane(width: colours[0].width, height: colours[0].height, samples: samples)
    }
}
