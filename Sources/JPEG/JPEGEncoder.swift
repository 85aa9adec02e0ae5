import CJPEG

/// Writes a picture that is stored as JPEG stores it: luma and chroma, full range.
///
/// C: `jpeg_write_scanlines` of libjpeg-turbo.
package enum JPEGEncoder {
    /// A file that begins as JFIF, with Huffman tables of its own.
    ///
    /// - Parameters:
    ///   - pixels: Y, Cb and Cr by turns, rows without padding.
    ///   - quality: 1 to 100.
    ///   - halvesChroma: Whether colour is stored at half width and half height.
    package static func encode(pixels: [UInt8], width: Int, height: Int, quality: Int, halvesChroma: Bool)
        throws(JPEGError) -> [UInt8]
    {
        // Bounded: our own picture, which is in memory.
        precondition(pixels.count == width * height * 3, "pixels fill the picture")
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        // libjpeg hands over what it allocated, or what it had when it gave up.
        defer { unsafe free(bytes) }
        let code = unsafe CJPEG_encode(
            pixels, CInt(clamping: width), CInt(clamping: height), CInt(clamping: quality), halvesChroma ? 1 : 0,
            &bytes, &count)
        try JPEGError.check(code, "compress")
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(clamping: count)))
    }
}
