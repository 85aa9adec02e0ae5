/// What a lossy WebP stores, 8 bits a sample, rows without padding: luma, and two of chroma of half its width and
/// height, rounded up.
///
/// Luma goes from 16 to 235 and chroma from 16 to 240, weighted as BT.601 says; a sample of chroma lies amid the four
/// of luma that it stands for.
///
/// Source: RFC 6386, 9.2 (`color_space`); libwebp, `src/dsp/yuv.h` and `src/dsp/upsampling.c`.
package struct WebPComponents: Sendable, Hashable {
    package let width: Int
    package let height: Int
    package var luma: [UInt8]
    package var blue: [UInt8]
    package var red: [UInt8]

    /// Samples of chroma for so many of luma, across or down.
    // Bounded: sides have 14 bits.
    package static func chroma(_ side: Int) -> Int { (side + 1) / 2 }
}
