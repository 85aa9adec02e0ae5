import CSPNG

/// The result of reading all coded data of a PNG.
///
/// Checked are the checksums of the critical chunks (IHDR, PLTE, IDAT, IEND), zlib's checksum of the image data, and
/// that all rows exist. What libspng and libpng ignore counts as intact: bytes after the data, and corrupt metadata
/// chunks.
package enum PNGValidation: Sendable, Hashable {
    case intact
    /// libspng's reason.
    case damaged(String)
    /// Could not be checked: an ancillary chunk is larger than the memory libspng may use.
    case unknown

    /// Limits in bytes for one ancillary chunk, and for all of them.
    private static let chunkBytesMax = 16_000_000
    private static let keptBytesMax = 32_000_000
    /// Pixels of a side, libpng's limit: one row is held in memory.
    private static let sideMax: UInt32 = 1_000_000

    /// Reads the whole file and discards the rows.
    package init(descriptor: CInt) {
        do throws(PNGError) {
            guard let context = unsafe spng_ctx_new(0) else { throw PNGError(CInt(SPNG_EMEM.rawValue), "ctx_new") }
            defer { unsafe spng_ctx_free(context) }
            let source = PNGSource(descriptor: descriptor, waitForMore: { false })
            // The context does not retain the source.
            try withExtendedLifetime(source) { () throws(PNGError) in try unsafe Self.read(context, source: source) }
            self = .intact
        } catch {
            self = error.isLimit ? .unknown : .damaged("\(error.operation): \(error.reason)")
        }
    }

    private static func read(_ context: OpaquePointer, source: PNGSource) throws(PNGError) {
        try PNGError.check(unsafe spng_set_chunk_limits(context, chunkBytesMax, keptBytesMax), of: "set_chunk_limits")
        try PNGError.check(unsafe spng_set_image_limits(context, sideMax, sideMax), of: "set_image_limits")
        let (isFault, isDropped) = (CInt(SPNG_CRC_ERROR.rawValue), CInt(SPNG_CRC_DISCARD.rawValue))
        try PNGError.check(unsafe spng_set_crc_action(context, isFault, isDropped), of: "set_crc_action")
        try unsafe source.attach(to: context)
        var header = spng_ihdr()
        try PNGError.check(unsafe spng_get_ihdr(context, &header), of: "get_ihdr")
        let format = CInt(SPNG_FMT_PNG.rawValue)
        var size = 0
        try PNGError.check(unsafe spng_decoded_image_size(context, format, &size), of: "decoded_image_size")
        let flags = CInt(SPNG_DECODE_PROGRESSIVE.rawValue)
        try PNGError.check(unsafe spng_decode_image(context, nil, 0, format, flags), of: "decode_image")
        // Bounded: a header has at least one row.
        var row = [UInt8](repeating: 0, count: size / max(1, Int(clamping: header.height)))
        var code: CInt = 0
        repeat { code = unsafe spng_decode_scanline(context, &row, row.count) } while code == 0
        guard code == CInt(SPNG_EOI.rawValue) else { throw PNGError(code, "decode_scanline") }
        try PNGError.check(unsafe spng_decode_chunks(context), of: "decode_chunks")
    }
}
