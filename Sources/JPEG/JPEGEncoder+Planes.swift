import CJPEG
import Glibc

extension JPEGEncoder {
    /// The components of a picture as a JFIF file, stored as they are: chroma keeps the size it has.
    ///
    /// C: `jpeg_write_raw_data`.
    ///
    /// - Parameters:
    ///   - planes: Luma, and two of chroma of the same size, of half its width, or of half of both, rounded up.
    ///   - quality: 1 to 100.
    ///   - optimizes: Whether Huffman tables are made for the picture; holds all its coefficients.
    package static func encode(planes: [JPEGPlane], quality: Int, optimizes: Bool) throws(JPEGError) -> [UInt8] {
        precondition(planes.count == 1 || planes.count == 3, "luma alone, or luma and two of chroma")
        let (luma, chroma) = (planes[0], planes[planes.count - 1])
        let across = chroma.width == luma.width ? 1 : 2
        let down = chroma.height == luma.height ? 1 : 2
        precondition(
            planes.dropFirst().allSatisfy {
                // Bounded: our own planes, which are in memory.
                $0.width == (luma.width + across - 1) / across && $0.height == (luma.height + down - 1) / down
            }, "chroma has a size that JPEG knows")
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        // libjpeg hands over what it allocated, or what it had when it gave up.
        defer { unsafe free(bytes) }
        let code = unsafe withSamples(of: planes[...]) { samples in
            unsafe CJPEG_encode_planes(
                samples, CInt(samples.count), CInt(clamping: across), CInt(clamping: down), CInt(clamping: quality),
                optimizes ? 1 : 0, &bytes, &count)
        }
        try JPEGError.check(code, "compress")
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(clamping: count)))
    }

    /// All planes at once as C sees them; they stay where they are until the body returns.
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
