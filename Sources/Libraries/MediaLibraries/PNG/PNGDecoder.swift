import CSPNG
import Glibc
import Linux
import SafeArithmetic

/// Decodes a PNG row by row while its bytes are written. Owns libspng's context.
///
/// All checksums are verified, including those of ancillary chunks.
///
/// C: `spng_decode_row` of libspng.
@safe package final class PNGDecoder {
    /// The channels of a decoded pixel, 8 bits a sample.
    package enum SampleFormat: Int, Sendable, Hashable {
        case gray = 1
        case rgb = 3
        case rgba = 4

        fileprivate var format: CInt {
            switch self {
            case .gray: CInt(SPNG_FMT_G8.rawValue)
            case .rgb: CInt(SPNG_FMT_RGB8.rawValue)
            case .rgba: CInt(SPNG_FMT_RGBA8.rawValue)
            }
        }
    }

    private let context: OpaquePointer
    private let source: PNGSource
    private let header: spng_ihdr
    /// The channels of the decoded rows.
    package let samples: SampleFormat

    /// Limits in bytes for one chunk, and for all that libspng keeps: profiles and palettes are far smaller.
    private static let chunkBytesMax = 1_000_000
    private static let keptBytesMax = 4_000_000

    /// Reads the file up to the first row.
    ///
    /// - Parameters:
    ///   - descriptor: Borrowed; must stay open while the decoder exists.
    ///   - waitForMore: Called at the end of the file; returns whether more bytes were written.
    package init(descriptor: CInt, waitForMore: @escaping () -> Bool = { false }) throws(PNGError) {
        guard let context = unsafe spng_ctx_new(0) else { throw PNGError(CInt(SPNG_EMEM.rawValue), "ctx_new") }
        let source = PNGSource(descriptor: descriptor, waitForMore: waitForMore)
        do {
            header = unsafe try Self.open(context, source: source)
        } catch {
            unsafe spng_ctx_free(context)
            throw error
        }
        unsafe self.context = context
        self.source = source
        samples = Self.samples(header, hasTransparency: unsafe Self.hasTransparency(context))
    }

    deinit { unsafe spng_ctx_free(context) }

    private static func open(_ context: OpaquePointer, source: PNGSource) throws(PNGError) -> spng_ihdr {
        try PNGError.check(unsafe spng_set_chunk_limits(context, chunkBytesMax, keptBytesMax), of: "set_chunk_limits")
        let isFault = CInt(SPNG_CRC_ERROR.rawValue)
        try PNGError.check(unsafe spng_set_crc_action(context, isFault, isFault), of: "set_crc_action")
        try unsafe source.attach(to: context)
        var header = spng_ihdr()
        try PNGError.check(unsafe spng_get_ihdr(context, &header), of: "get_ihdr")
        return header
    }

    private static func samples(_ header: spng_ihdr, hasTransparency: Bool) -> SampleFormat {
        switch spng_color_type(UInt32(truncatingIfNeeded: header.color_type)) {
        case SPNG_COLOR_TYPE_GRAYSCALE where !hasTransparency && header.bit_depth <= 8: .gray
        case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA: .rgba
        default: hasTransparency ? .rgba : .rgb
        }
    }

    private static func hasTransparency(_ context: OpaquePointer) -> Bool {
        var transparency = spng_trns()
        return unsafe spng_get_trns(context, &transparency) == 0
    }

    /// Width in pixels.
    package var width: Int { Int(clamping: header.width) }
    /// Height in pixels.
    package var height: Int { Int(clamping: header.height) }
    /// Bits of a sample as stored: 1 to 16.
    package var bitDepth: Int { Int(clamping: header.bit_depth) }
    package var isInterlaced: Bool { header.interlace_method != 0 }

    /// Whether an `eXIf` chunk was read so far; it may contain the orientation.
    package var hasExif: Bool {
        var exif = unsafe spng_exif()
        return unsafe spng_get_exif(context, &exif) == 0
    }

    /// The decompressed text of the first text chunk with that keyword that was read so far; nil without one.
    package func text(named keyword: String) -> [UInt8]? {
        var count: UInt32 = 0
        guard unsafe spng_get_text(context, nil, &count) == 0, count > 0 else { return nil }
        var texts = unsafe [spng_text](repeating: spng_text(), count: Int(clamping: count))
        guard unsafe spng_get_text(context, &texts, &count) == 0 else { return nil }
        let wanted = Array(keyword.utf8) + [0]
        let index = unsafe texts.firstIndex { text in
            unsafe withUnsafeBytes(of: text.keyword) { unsafe $0.starts(with: wanted) }
        }
        guard let index, let bytes = unsafe texts[index].text else { return nil }
        return unsafe UnsafeRawBufferPointer(start: bytes, count: texts[index].length).map { $0 }
    }

    /// The ICC profile; nil without one.
    package var colorProfile: [UInt8]? {
        var profile = unsafe spng_iccp()
        guard unsafe spng_get_iccp(context, &profile) == 0, let bytes = unsafe profile.profile else { return nil }
        return unsafe UnsafeRawBufferPointer(start: bytes, count: profile.profile_len).map { $0 }
    }

    /// Decodes to the end of the file.
    ///
    /// - Parameter body: Called with each row from the top, `width` times the samples of a pixel; an error it throws
    ///   ends the decoding.
    /// - Throws: `PNGError` when the file is truncated or damaged.
    package func decode(_ body: (UnsafeMutableBufferPointer<UInt8>) throws -> Void) throws {
        // Interlaced rows do not come in order.
        guard !isInterlaced else { throw PNGError(CInt(SPNG_EINTERLACE_METHOD.rawValue), "decode_image") }
        let flags = CInt(truncatingIfNeeded: SPNG_DECODE_PROGRESSIVE.rawValue | SPNG_DECODE_TRNS.rawValue)
        try PNGError.check(unsafe spng_decode_image(context, nil, 0, samples.format, flags), of: "decode_image")
        // Bounded: a width has 31 bits, and callers have checked it.
        let row = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: width * samples.rawValue)
        defer { unsafe row.deallocate() }
        let last = height.subtracting(clamping: 1)
        for number in 0..<height {
            let code = unsafe spng_decode_row(context, row.baseAddress, row.count)
            // libspng returns EOI with the last row.
            let isExpected = number == last ? code == CInt(SPNG_EOI.rawValue) : code == 0
            guard isExpected else { throw PNGError(code, "decode_row") }
            try unsafe body(row)
        }
        try PNGError.check(unsafe spng_decode_chunks(context), of: "decode_chunks")
    }
}

/// Supplies libspng with the bytes of a PNG in order, and waits at the end of the file while more are expected.
final class PNGSource {
    /// Bytes read at a time: libspng requests a few thousand.
    private static let pieceBytes = 131_072

    private let descriptor: CInt
    private let waitForMore: () -> Bool
    private var offset = 0
    private var piece: [UInt8] = []
    private var pieceOffset = 0

    init(descriptor: CInt, waitForMore: @escaping () -> Bool) {
        self.descriptor = descriptor
        self.waitForMore = waitForMore
    }

    /// Sets itself as the input of a context; must outlive the context's reading.
    func attach(to context: OpaquePointer) throws(PNGError) {
        let code = unsafe spng_set_png_stream(
            context,
            { _, user, target, count in
                guard let user = unsafe user, let target = unsafe target else { return CInt(SPNG_IO_ERROR.rawValue) }
                let source = unsafe Unmanaged<PNGSource>.fromOpaque(user).takeUnretainedValue()
                let buffer = unsafe UnsafeMutableRawBufferPointer(start: target, count: count)
                return unsafe source.fill(buffer) ? 0 : CInt(SPNG_IO_EOF.rawValue)
            }, Unmanaged.passUnretained(self).toOpaque())
        try PNGError.check(code, of: "set_png_stream")
    }

    // Bounded throughout: `filled` lies in the buffer, `pieceOffset` in the piece, and `offset` is how far the file was
    // read.

    /// Fills the whole buffer.
    ///
    /// - Returns: Whether the file had enough bytes.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var filled = 0
        while filled < buffer.count {
            if pieceOffset == piece.count, !readOn() { return false }
            let count = min(piece.count - pieceOffset, buffer.count - filled)
            unsafe piece.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<(filled + count)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[pieceOffset..<(pieceOffset + count)]))
            }
            filled += count
            pieceOffset += count
        }
        return true
    }

    private func readOn() -> Bool {
        repeat {
            piece = (try? FileIO.bytes(descriptor, at: offset, count: Self.pieceBytes)) ?? []
        } while piece.isEmpty && waitForMore()
        offset += piece.count
        pieceOffset = 0
        return !piece.isEmpty
    }
}

/// A failed libspng call and libspng's reason: for the log only.
package struct PNGError: Error, Sendable, Hashable {
    package let operation: String
    package let reason: String
    /// Whether one of the configured limits was exceeded.
    let isLimit: Bool

    init(_ code: CInt, _ operation: StaticString) {
        self.operation = "\(operation)"
        let limits = [SPNG_ECHUNK_LIMITS, SPNG_EMEM, SPNG_EOVERFLOW, SPNG_EUSER_WIDTH, SPNG_EUSER_HEIGHT]
        isLimit = limits.contains { CInt(truncatingIfNeeded: $0.rawValue) == code }
        reason = unsafe spng_strerror(code).map { unsafe String(cString: $0) } ?? "\(code)"
    }

    static func check(_ code: CInt, of operation: StaticString) throws(PNGError) {
        if code != 0 { throw PNGError(code, operation) }
    }
}
