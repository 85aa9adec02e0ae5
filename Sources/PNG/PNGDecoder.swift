import CSPNG
import SafeArithmetic

/// Decodes a PNG row by row, as its bytes come; owns libspng's context.
///
/// Every checksum counts, those of chunks that nobody looks at as well.
///
/// C: `spng_decode_row` of libspng.
@safe package final class PNGDecoder {
    /// What rows are made of, 8 bits a sample.
    package enum Samples: Int, Sendable, Hashable {
        case grey = 1
        case redGreenBlue = 3
        case redGreenBlueAlpha = 4

        fileprivate var format: CInt {
            switch self {
            case .grey: CInt(SPNG_FMT_G8.rawValue)
            case .redGreenBlue: CInt(SPNG_FMT_RGB8.rawValue)
            case .redGreenBlueAlpha: CInt(SPNG_FMT_RGBA8.rawValue)
            }
        }
    }

    private let context: OpaquePointer
    private let source: PNGSource
    private let header: spng_ihdr
    /// What the rows will be made of.
    package let samples: Samples

    /// Bytes of a chunk, and of all that libspng keeps: profiles and palettes are far smaller.
    private static let chunkBytesMax = 1_000_000
    private static let keptBytesMax = 4_000_000

    /// Reads as far as the first row.
    ///
    /// - Parameters:
    ///   - descriptor: Borrowed; stays open while this lives.
    ///   - waitForMore: Asked at the end of the file: whether there is more of it now.
    package init(descriptor: CInt, waitForMore: @escaping () -> Bool = { false }) throws(PNGError) {
        guard let context = unsafe spng_ctx_new(0) else { throw PNGError(CInt(SPNG_EMEM.rawValue), "ctx_new") }
        let source = PNGSource(descriptor: descriptor, waitForMore: waitForMore)
        do {
            header = unsafe try Self.open(context, source)
        } catch {
            unsafe spng_ctx_free(context)
            throw error
        }
        unsafe self.context = context
        self.source = source
        samples = Self.samples(header, hasTransparency: unsafe Self.hasTransparency(context))
    }

    deinit { unsafe spng_ctx_free(context) }

    private static func open(_ context: OpaquePointer, _ source: PNGSource) throws(PNGError) -> spng_ihdr {
        try PNGError.check(unsafe spng_set_chunk_limits(context, chunkBytesMax, keptBytesMax), "set_chunk_limits")
        let isFault = CInt(SPNG_CRC_ERROR.rawValue)
        try PNGError.check(unsafe spng_set_crc_action(context, isFault, isFault), "set_crc_action")
        try unsafe source.give(to: context)
        var header = spng_ihdr()
        try PNGError.check(unsafe spng_get_ihdr(context, &header), "get_ihdr")
        return header
    }

    private static func samples(_ header: spng_ihdr, hasTransparency: Bool) -> Samples {
        switch spng_color_type(UInt32(truncatingIfNeeded: header.color_type)) {
        case SPNG_COLOR_TYPE_GRAYSCALE where !hasTransparency && header.bit_depth <= 8: .grey
        case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: .redGreenBlueAlpha
        default: hasTransparency ? .redGreenBlueAlpha : .redGreenBlue
        }
    }

    private static func hasTransparency(_ context: OpaquePointer) -> Bool {
        var transparency = spng_trns()
        return unsafe spng_get_trns(context, &transparency) == 0
    }

    /// Pixels.
    package var width: Int { Int(clamping: header.width) }
    /// Pixels.
    package var height: Int { Int(clamping: header.height) }
    /// Of a sample, as stored: 1 to 16.
    package var bitDepth: Int { Int(clamping: header.bit_depth) }
    package var isInterlaced: Bool { header.interlace_method != 0 }

    /// Whether a chunk read so far says how the picture is to be turned, among other things of a camera.
    package var hasExif: Bool {
        var exif = unsafe spng_exif()
        return unsafe spng_get_exif(context, &exif) == 0
    }

    /// The ICC profile; nil without one.
    package var colourProfile: [UInt8]? {
        var profile = unsafe spng_iccp()
        guard unsafe spng_get_iccp(context, &profile) == 0, let bytes = unsafe profile.profile else { return nil }
        return unsafe UnsafeRawBufferPointer(start: bytes, count: profile.profile_len).map { $0 }
    }

    /// Decodes to the end of the file.
    ///
    /// - Parameter take: Given each row from the top, `width` times the samples of a pixel; what it throws ends it.
    /// - Throws: `PNGError` where the file is cut or damaged.
    package func decode(_ take: (UnsafeMutableBufferPointer<UInt8>) throws -> Void) throws {
        // Rows do not come in order.
        guard !isInterlaced else { throw PNGError(CInt(SPNG_EINTERLACE_METHOD.rawValue), "decode_image") }
        let flags = CInt(truncatingIfNeeded: SPNG_DECODE_PROGRESSIVE.rawValue | SPNG_DECODE_TRNS.rawValue)
        try PNGError.check(unsafe spng_decode_image(context, nil, 0, samples.format, flags), "decode_image")
        // Bounded: a width has 31 bits, and those who decode have looked at it.
        let row = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: width * samples.rawValue)
        defer { unsafe row.deallocate() }
        let last = height.subtracting(clamping: 1)
        for number in 0..<height {
            let code = unsafe spng_decode_row(context, row.baseAddress, row.count)
            // The last one tells that it is the last.
            let isExpected = number == last ? code == CInt(SPNG_EOI.rawValue) : code == 0
            guard isExpected else { throw PNGError(code, "decode_row") }
            try unsafe take(row)
        }
        try PNGError.check(unsafe spng_decode_chunks(context), "decode_chunks")
    }
}
