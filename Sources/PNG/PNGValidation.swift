import CSPNG

/// What reading all of a PNG's coded data finds.
///
/// Counted are the checksums of the chunks that a picture needs (IHDR, PLTE, IDAT, IEND), zlib's of its data, and that
/// there are all rows. What libspng and libpng pass over is intact: bytes behind the data, and chunks for metadata that
/// are broken, which are not shown.
package enum PNGValidation: Sendable, Hashable {
    case intact
    /// libspng's word for what is wrong.
    case damaged(String)
    /// Nothing can be said: it has larger chunks beside its picture than libspng is given memory for.
    case unknown

    /// Bytes of a chunk beside the picture, and of all of them.
    private static let chunkBytesMax = 16_000_000
    private static let keptBytesMax = 32_000_000
    /// Pixels of a side, as libpng has it: a row of them is in memory.
    private static let sideMax: UInt32 = 1_000_000

    /// Reads all of the file, and keeps nothing of it.
    package init(descriptor: CInt) {
        do throws(PNGError) {
            guard let context = unsafe spng_ctx_new(0) else { throw PNGError(CInt(SPNG_EMEM.rawValue), "ctx_new") }
            defer { unsafe spng_ctx_free(context) }
            let source = PNGSource(descriptor: descriptor, waitForMore: { false })
            // Beside the data the context has no hold on it.
            try withExtendedLifetime(source) { () throws(PNGError) in try unsafe Self.read(context, source) }
            self = .intact
        } catch {
            self = error.isLimit ? .unknown : .damaged("\(error.operation): \(error.reason)")
        }
    }

    private static func read(_ context: OpaquePointer, _ source: PNGSource) throws(PNGError) {
        try PNGError.check(unsafe spng_set_chunk_limits(context, chunkBytesMax, keptBytesMax), "set_chunk_limits")
        try PNGError.check(unsafe spng_set_image_limits(context, sideMax, sideMax), "set_image_limits")
        let (isFault, isDropped) = (CInt(SPNG_CRC_ERROR.rawValue), CInt(SPNG_CRC_DISCARD.rawValue))
        try PNGError.check(unsafe spng_set_crc_action(context, isFault, isDropped), "set_crc_action")
        try unsafe source.give(to: context)
        var header = spng_ihdr()
        try PNGError.check(unsafe spng_get_ihdr(context, &header), "get_ihdr")
        let format = CInt(SPNG_FMT_PNG.rawValue)
        var size = 0
        try PNGError.check(unsafe spng_decoded_image_size(context, format, &size), "decoded_image_size")
        let flags = CInt(SPNG_DECODE_PROGRESSIVE.rawValue)
        try PNGError.check(unsafe spng_decode_image(context, nil, 0, format, flags), "decode_image")
        // Bounded: a header has at least one row.
        var row = [UInt8](repeating: 0, count: size / max(1, Int(clamping: header.height)))
        var code: CInt = 0
        repeat { code = unsafe spng_decode_scanline(context, &row, row.count) } while code == 0
        guard code == CInt(SPNG_EOI.rawValue) else { throw PNGError(code, "decode_scanline") }
        try PNGError.check(unsafe spng_decode_chunks(context), "decode_chunks")
    }
}
