import CWebP

/// Composes the frames of an animated WebP, one after another. Owns libwebp's decoder and the bytes it reads.
///
/// Memory: the file, two canvases and a frame.
///
/// C: `WebPAnimDecoder` of libwebpdemux.
@safe package final class WebPAnimation {
    private let file: UnsafeMutableBufferPointer<UInt8>
    private let decoder: OpaquePointer
    /// Pixels of the canvas.
    package let width: Int
    package let height: Int
    /// The file's ICC profile; nil without one.
    package let colorProfile: [UInt8]?

    /// - Parameter bytes: A whole file.
    /// - Throws: `WebPError` when it is not an animated WebP.
    package init(_ bytes: [UInt8]) throws(WebPError) {
        let file = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe file.initialize(from: bytes)
        var options = WebPAnimDecoderOptions()
        var data = unsafe WebPData(bytes: file.baseAddress, size: file.count)
        var information = WebPAnimInfo()
        guard unsafe WebPAnimDecoderOptionsInit(&options) != 0, let decoder = unsafe WebPAnimDecoderNew(&data, &options)
        else {
            unsafe file.deallocate()
            throw WebPError("anim_decoder_new")
        }
        unsafe (self.file, self.decoder) = (file, decoder)
        // It cannot fail for a valid decoder.
        _ = unsafe WebPAnimDecoderGetInfo(decoder, &information)
        (width, height) = (Int(clamping: information.canvas_width), Int(clamping: information.canvas_height))
        colorProfile = unsafe Self.colorProfile(decoder)
    }

    deinit {
        unsafe WebPAnimDecoderDelete(decoder)
        unsafe file.deallocate()
    }

    private static func colorProfile(_ decoder: OpaquePointer) -> [UInt8]? {
        var chunk = unsafe WebPChunkIterator()
        guard unsafe WebPDemuxGetChunk(WebPAnimDecoderGetDemuxer(decoder), "ICCP", 1, &chunk) != 0 else { return nil }
        defer { unsafe WebPDemuxReleaseChunkIterator(&chunk) }
        return unsafe Array(UnsafeBufferPointer(start: chunk.chunk.bytes, count: chunk.chunk.size))
    }

    /// The canvas after the next frame: RGBA, not premultiplied, rows without padding; nil after the last frame.
    ///
    /// - Throws: `WebPError` when the frame cannot be decoded.
    package func next() throws(WebPError) -> [UInt8]? {
        guard unsafe WebPAnimDecoderHasMoreFrames(decoder) != 0 else { return nil }
        var canvas: UnsafeMutablePointer<UInt8>?
        var shownUntil: CInt = 0
        guard unsafe WebPAnimDecoderGetNext(decoder, &canvas, &shownUntil) != 0, let canvas = unsafe canvas else {
            throw WebPError("anim_decoder_get_next")
        }
        // Bounded: the canvas is in memory.
        return unsafe Array(UnsafeBufferPointer(start: canvas, count: width * height * 4))
    }
}
