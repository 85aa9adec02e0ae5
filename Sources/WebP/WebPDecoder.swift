import CWebP

/// Decodes a lossy WebP into the components it stores, piece by piece; owns libwebp's decoder and what it is told.
///
/// No colour is converted, and no chroma enlarged.
///
/// C: `WebPIDecode` and `WebPIUpdate` of libwebp.
@safe package final class WebPDecoder {
    /// Looks at the clock while a picture is decoded; libwebp itself knows no end but that of its bytes.
    private static let pieces = 64
    /// A piece holds more than any square of a picture, so that each one leads on.
    private static let pieceBytesMin = 16_384
    /// Pixels of a side: they have 14 bits.
    private static let sideMax = 16_383

    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer

    /// The picture of a chunk.
    ///
    /// - Parameters:
    ///   - chunk: `VP8 ` with its header.
    ///   - width: Pixels, as the chunk says; height as well.
    ///   - beforePiece: Asked now and then; what it throws ends the decoding.
    /// - Throws: `WebPError` when the chunk cannot be decoded to its end, or is of another size.
    package static func decode(
        _ chunk: [UInt8], width: Int, height: Int, beforePiece: () throws -> Void
    ) throws -> WebPComponents {
        guard (1...sideMax).contains(width), (1...sideMax).contains(height) else { throw WebPError("size") }
        // Bounded throughout: by `sideMax`.
        let chroma = WebPComponents.chroma(width) * WebPComponents.chroma(height)
        var luma = [UInt8](repeating: 0, count: width * height)
        var blue = [UInt8](repeating: 0, count: chroma)
        var red = [UInt8](repeating: 0, count: chroma)
        try unsafe luma.withUnsafeMutableBufferPointer { luma in
            try unsafe blue.withUnsafeMutableBufferPointer { blue in
                try unsafe red.withUnsafeMutableBufferPointer { red in
                    let decoder = try unsafe WebPDecoder(width, height, luma, blue, red)
                    try decoder.decode(chunk, beforePiece: beforePiece)
                }
            }
        }
        return WebPComponents(width: width, height: height, luma: luma, blue: blue, red: red)
    }

    /// The buffers stay where they are while this lives.
    private init(
        _ width: Int, _ height: Int, _ luma: UnsafeMutableBufferPointer<UInt8>,
        _ blue: UnsafeMutableBufferPointer<UInt8>, _ red: UnsafeMutableBufferPointer<UInt8>
    ) throws(WebPError) {
        let config = UnsafeMutablePointer<WebPDecoderConfig>.allocate(capacity: 1)
        unsafe config.initialize(to: WebPDecoderConfig())
        guard unsafe WebPInitDecoderConfig(config) != 0 else {
            unsafe config.deallocate()
            throw WebPError("init_decoder_config")
        }
        unsafe config.pointee.output.colorspace = MODE_YUV
        unsafe (config.pointee.output.width, config.pointee.output.height) = (
            CInt(clamping: width), CInt(clamping: height)
        )
        unsafe config.pointee.output.is_external_memory = 1
        let stride = CInt(clamping: WebPComponents.chroma(width))
        unsafe config.pointee.output.u.YUVA = WebPYUVABuffer(
            y: luma.baseAddress, u: blue.baseAddress, v: red.baseAddress, a: nil, y_stride: CInt(clamping: width),
            u_stride: stride, v_stride: stride, a_stride: 0, y_size: luma.count, u_size: blue.count,
            v_size: red.count, a_size: 0)
        guard let decoder = unsafe WebPIDecode(nil, 0, config) else {
            unsafe config.deallocate()
            throw WebPError("decode")
        }
        unsafe (self.config, self.decoder) = (config, decoder)
    }

    deinit {
        unsafe WebPIDelete(decoder)
        unsafe config.deallocate()
    }

    private func decode(_ chunk: [UInt8], beforePiece: () throws -> Void) throws {
        let (width, height) = unsafe (config.pointee.output.width, config.pointee.output.height)
        let piece = max(Self.pieceBytesMin, chunk.count / Self.pieces)
        var status = VP8_STATUS_SUSPENDED
        // Bounded: both are in memory.
        for end in stride(from: piece, to: chunk.count + piece, by: piece) where status == VP8_STATUS_SUSPENDED {
            try beforePiece()
            status = unsafe WebPIUpdate(decoder, chunk, min(end, chunk.count))
        }
        guard status == VP8_STATUS_OK else { throw WebPError(status, "update") }
        // It says there what it found, and would have left the rest of a larger buffer as it was.
        guard unsafe config.pointee.output.width == width, unsafe config.pointee.output.height == height else {
            throw WebPError("size")
        }
    }
}
