import CJPEG
import Glibc

/// Encodes full-range YCbCr samples as JPEG.
///
/// C: `jpeg_write_scanlines` of libjpeg-turbo.
package enum JPEGEncoder {
    /// Encodes interleaved samples as a JFIF file with optimized Huffman tables.
    ///
    /// - Parameters:
    ///   - pixels: Y, Cb and Cr interleaved, rows without padding.
    ///   - quality: 1 to 100.
    ///   - halvesChroma: Whether chroma is stored at half width and half height.
    package static func encode(pixels: [UInt8], width: Int, height: Int, quality: Int, halvesChroma: Bool)
        throws(JPEGError) -> [UInt8]
    {
        precondition(pixels.count == width * height * 3, "pixels do not match the image size")
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        // After an error this is what libjpeg had allocated by then.
        defer { unsafe free(bytes) }
        let code = unsafe CJPEG_encode(
            pixels, CInt(clamping: width), CInt(clamping: height), CInt(clamping: quality), halvesChroma ? 1 : 0,
            &bytes, &count)
        try JPEGError.check(code, of: "compress")
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(clamping: count)))
    }
}

extension JPEGEncoder {
    /// Encodes planes as a JFIF file without resampling: chroma keeps its size.
    ///
    /// C: `jpeg_write_raw_data`.
    ///
    /// - Parameters:
    ///   - planes: Luma, and two of chroma of the same size, of half its width, or of half of both, rounded up.
    ///   - quality: 1 to 100.
    ///   - optimizes: Whether Huffman tables are optimized for the image; this keeps all its coefficients in memory.
    package static func encode(planes: [JPEGPlane], quality: Int, optimizes: Bool) throws(JPEGError) -> [UInt8] {
        precondition(planes.count == 1 || planes.count == 3, "expected luma alone, or luma and two planes of chroma")
        let (luma, chroma) = (planes[0], planes[planes.count - 1])
        let horizontalSampling = chroma.width == luma.width ? 1 : 2
        let verticalSampling = chroma.height == luma.height ? 1 : 2
        precondition(
            planes.dropFirst().allSatisfy {
                $0.width == (luma.width + horizontalSampling - 1) / horizontalSampling
                    && $0.height == (luma.height + verticalSampling - 1) / verticalSampling
            }, "unsupported chroma subsampling")
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        // After an error this is what libjpeg had allocated by then.
        defer { unsafe free(bytes) }
        let code = unsafe withSamples(of: planes[...]) { samples in
            unsafe CJPEG_encode_planes(
                samples, CInt(samples.count), CInt(clamping: horizontalSampling), CInt(clamping: verticalSampling),
                CInt(clamping: quality),
                optimizes ? 1 : 0, &bytes, &count)
        }
        try JPEGError.check(code, of: "compress")
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(clamping: count)))
    }

    /// Calls `body` with C views of all planes; their memory does not move until it returns.
    private static func withSamples(
        of planes: ArraySlice<JPEGPlane>, _ found: [CJPEG_samples] = unsafe [], _ body: ([CJPEG_samples]) -> CInt
    ) -> CInt {
        guard let plane = planes.first else { return unsafe body(found) }
        return unsafe plane.samples.withUnsafeBufferPointer { samples in
            let next = unsafe CJPEG_samples(
                samples: samples.baseAddress, width: CInt(clamping: plane.width), height: CInt(clamping: plane.height))
            return unsafe withSamples(of: planes.dropFirst(), found + [next], body)
        }
    }
}
