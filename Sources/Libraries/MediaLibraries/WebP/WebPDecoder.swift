import CWebP

/// Decodes a lossy WebP into its stored components, piece by piece. Owns libwebp's decoder and its configuration.
///
/// No color conversion and no chroma upsampling is done.
///
/// C: `WebPIDecode` and `WebPIUpdate` of libwebp.
@safe package final class WebPDecoder {
    /// Pieces into which the data is split, so that the deadline is checked between them; libwebp itself cannot be
    /// interrupted.
    private static let pieces = 64
    /// More bytes than a macroblock takes, so that each piece makes progress.
    private static let pieceBytesMin = 16_384
    /// Pixels of a side, which has 14 bits.
    private static let sideMax = 16_383

    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer

    /// Decodes a `VP8 ` chunk.
    ///
    /// - Parameters:
    ///   - chunk: `VP8 ` with its header.
    ///   - width: Width in pixels, as in the chunk's header; `height` likewise.
    ///   - beforePiece: Called before each piece; an error it throws ends the decoding.
    /// - Throws: `WebPError` when the chunk is truncated or corrupt, or has another size.
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

    /// The buffers must not move while the decoder exists.
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
        // libwebp writes the decoded size here; a smaller image would leave the rest of the buffer unchanged.
        guard unsafe config.pointee.output.width == width, unsafe config.pointee.output.height == height else {
            throw WebPError("size")
        }
    }
}

/// The stored components of a lossy WebP, 8 bits a sample, rows without padding: luma, and two of chroma of half its
/// width and height, rounded up.
///
/// Luma ranges from 16 to 235 and chroma from 16 to 240, with BT.601 coefficients; a chroma sample lies at the center
/// of its four luma samples.
///
/// Source: RFC 6386, 9.2 (`color_space`); libwebp, `src/dsp/yuv.h` and `src/dsp/upsampling.c`.
package struct WebPComponents: Sendable, Hashable {
    package let width: Int
    package let height: Int
    package var luma: [UInt8]
    package var blue: [UInt8]
    package var red: [UInt8]

    /// Samples of chroma for the given number of luma samples, across or down.
    // Bounded: sides have 14 bits.
    package static func chroma(_ side: Int) -> Int { (side + 1) / 2 }
}

/// A failed libwebp call and its status: for the log only.
package struct WebPError: Error, Sendable, Hashable {
    package let operation: String
    /// `VP8StatusCode`; 0 where a call has none.
    package let status: UInt32

    init(_ status: VP8StatusCode, _ operation: StaticString) {
        self.operation = "\(operation)"
        self.status = status.rawValue
    }

    init(_ operation: StaticString) { self.init(VP8_STATUS_OK, operation) }
}
