import JPEG

/// Movies' luma goes from 16 to 235 and their chroma from 16 to 240; a JPEG's go from 0 to 255.
///
/// Source: ISO/IEC 23091-2, 8.3, "VideoFullRangeFlag".
enum SampleRange {
    /// A straight line through numbers of 16 bits, which eight of are worked on at once.
    struct Spread {
        /// In 32,768ths.
        fileprivate let factor: UInt16
        /// What becomes 0, in 128ths of a step, less the half that rounds.
        fileprivate let zero: UInt16

        /// By 255 / 219 from 16 on.
        static let luma = Spread(factor: 38_155, zero: 2_321)
        /// By 255 / 224 around 128.
        static let chroma = Spread(factor: 37_303, zero: 2_203)
    }

    static func full(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        planes.enumerated().map { number, plane in
            var samples = plane.samples
            spread(&samples, number == 0 ? .luma : .chroma)
            return JPEGPlane(width: plane.width, height: plane.height, samples: samples)
        }
    }

    /// Where they are.
    static func spread(_ samples: inout [UInt8], _ spread: Spread) {
        unsafe samples.withUnsafeMutableBufferPointer { samples in
            for index in 0..<samples.count {
                let sample = unsafe UInt32(samples[index]) &<< 8
                let scaled = UInt16(truncatingIfNeeded: (sample &* UInt32(spread.factor)) &>> 16)
                let above = scaled > spread.zero ? (scaled &- spread.zero) &>> 7 : 0
                unsafe samples[index] = UInt8(truncatingIfNeeded: above < 255 ? above : 255)
            }
        }
    }
}
