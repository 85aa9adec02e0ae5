import CJXL
import SafeArithmetic

/// Reads a JPEG XL piece by piece: its header, then its layers or its composed frames. Owns libjxl's decoder and the
/// buffers that it reads from and writes to.
///
/// Works on the calling thread. Memory: a piece of the file, the pixels of a frame, and what libjxl holds.
///
/// C: `JxlDecoder` of libjxl.
@safe package final class JXLDecoder {
    /// What is read after the header.
    package enum Content: Sendable, Hashable {
        /// Durations and sizes of layers, without decoding.
        case layers
        /// Pixels of the composed frames.
        case frames
    }

    /// Bytes of the file that are read at a time.
    private static let pieceBytes = 1 << 20

    package let header: JXLHeader
    /// The ICC profile of the pixels; nil when they are in sRGB, PQ or HLG.
    package let colorProfile: [UInt8]?

    private let decoder: OpaquePointer
    private let input: JXLInput
    private var pixels = unsafe UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)

    /// Reads the header.
    ///
    /// - Parameters:
    ///   - size: Bytes of the file.
    ///   - read: Returns the bytes of a range of the file; an error it throws ends the decoding.
    /// - Throws: `JXLError` when the header is truncated or corrupt.
    package init(_ content: Content, size: Int, read: @escaping (Range<Int>) throws -> [UInt8]) throws {
        guard let decoder = unsafe JxlDecoderCreate(nil) else { throw JXLError("create") }
        do {
            input = JXLInput(size: size, pieceBytes: Self.pieceBytes, read: read)
            try unsafe Self.prepare(decoder, content)
            let information = try unsafe Self.information(decoder, input)
            header = try unsafe Self.header(information, decoder)
            colorProfile = try unsafe Self.colorProfile(decoder, header)
        } catch {
            unsafe JxlDecoderDestroy(decoder)
            throw error
        }
        unsafe self.decoder = decoder
    }

    deinit {
        unsafe JxlDecoderDestroy(decoder)
        unsafe pixels.deallocate()
    }

    /// Subscribes to the events of one kind of content. Layers are reported as they are stored, frames composed.
    private static func prepare(_ decoder: OpaquePointer, _ content: Content) throws {
        let frames = content == .frames ? JXL_DEC_FULL_IMAGE.rawValue : JXL_DEC_FRAME.rawValue
        let events = JXL_DEC_BASIC_INFO.rawValue | JXL_DEC_COLOR_ENCODING.rawValue | frames
        try check(unsafe JxlDecoderSubscribeEvents(decoder, CInt(clamping: events)), "subscribe_events")
        try check(unsafe JxlDecoderSetCoalescing(decoder, content == .frames ? 1 : 0), "set_coalescing")
        try check(unsafe JxlDecoderSetUnpremultiplyAlpha(decoder, 1), "set_unpremultiply_alpha")
    }

    private static func information(_ decoder: OpaquePointer, _ input: JXLInput) throws -> JxlBasicInfo {
        var information = JxlBasicInfo()
        try unsafe expect(JXL_DEC_BASIC_INFO, input.process(decoder))
        try check(unsafe JxlDecoderGetBasicInfo(decoder, &information), "get_basic_info")
        try unsafe expect(JXL_DEC_COLOR_ENCODING, input.process(decoder))
        return information
    }

    private static func header(_ information: JxlBasicInfo, _ decoder: OpaquePointer) throws -> JXLHeader {
        var encoding = JxlColorEncoding()
        // An error means that the image has an ICC profile instead.
        let status = unsafe JxlDecoderGetColorAsEncodedProfile(
            decoder, nil, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &encoding)
        return JXLHeader(information, status == JXL_DEC_SUCCESS ? encoding : nil)
    }

    /// Has libjxl convert to sRGB where it can, which is in images that are not stored in their own color space.
    private static func colorProfile(_ decoder: OpaquePointer, _ header: JXLHeader) throws -> [UInt8]? {
        if header.transfer != .standard { return nil }
        var encoding = JxlColorEncoding.sRGB(isGray: header.isGray)
        if !header.usesOriginalProfile {
            try check(unsafe JxlDecoderSetPreferredColorProfile(decoder, &encoding), "set_preferred_color_profile")
        }
        let status = unsafe JxlDecoderGetColorAsEncodedProfile(decoder, nil, JXL_COLOR_PROFILE_TARGET_DATA, &encoding)
        if status == JXL_DEC_SUCCESS, encoding.isSRGB { return nil }
        return unsafe profile(decoder)
    }

    /// Nil for an image without a profile, such as one in XYB that has no description of its colors.
    private static func profile(_ decoder: OpaquePointer) -> [UInt8]? {
        var size = 0
        let target = JXL_COLOR_PROFILE_TARGET_DATA
        guard unsafe JxlDecoderGetICCProfileSize(decoder, nil, target, &size) == JXL_DEC_SUCCESS,
            (1...JXLHeader.profileBytesMax).contains(size)
        else { return nil }
        var profile = [UInt8](repeating: 0, count: size)
        guard unsafe JxlDecoderGetColorAsICCProfile(decoder, nil, target, &profile, size) == JXL_DEC_SUCCESS else {
            return nil
        }
        return profile
    }

    /// The next layer; nil after the last.
    ///
    /// - Throws: `JXLError` when the file is truncated or corrupt.
    package func nextLayer() throws -> JXLLayer? {
        let status = try unsafe input.process(decoder)
        if status == JXL_DEC_SUCCESS { return nil }
        try Self.expect(JXL_DEC_FRAME, status)
        var frame = JxlFrameHeader()
        try check(unsafe JxlDecoderGetFrameHeader(decoder, &frame), "get_frame_header")
        return JXLLayer(frame)
    }

    /// The next composed frame: red, green, blue and alpha, not premultiplied, rows without padding; 8 bits a
    /// component, or 16 in little-endian order where the header says so. Nil after the last.
    ///
    /// - Throws: `JXLError` when the file is truncated or corrupt.
    package func nextFrame() throws -> [UInt8]? {
        let status = try unsafe input.process(decoder)
        if status == JXL_DEC_SUCCESS { return nil }
        try Self.expect(JXL_DEC_NEED_IMAGE_OUT_BUFFER, status)
        var format = header.pixelFormat
        var size = 0
        try check(unsafe JxlDecoderImageOutBufferSize(decoder, &format, &size), "image_out_buffer_size")
        guard size == header.frameBytes else { throw JXLError("image_out_buffer_size") }
        if unsafe pixels.isEmpty { unsafe pixels = .allocate(capacity: size) }
        try check(
            unsafe JxlDecoderSetImageOutBuffer(decoder, &format, pixels.baseAddress, size), "set_image_out_buffer")
        try unsafe Self.expect(JXL_DEC_FULL_IMAGE, input.process(decoder))
        return unsafe Array(pixels)
    }

    private static func expect(_ expected: JxlDecoderStatus, _ status: JxlDecoderStatus) throws(JXLError) {
        guard status == expected else { throw JXLError(status, "process_input") }
    }
}

/// Feeds a file to a decoder. Owns the piece that the decoder reads.
@safe private final class JXLInput {
    private let size: Int
    private let pieceBytes: Int
    private let read: (Range<Int>) throws -> [UInt8]
    private let piece: UnsafeMutableBufferPointer<UInt8>
    /// The offset after the bytes in `piece`.
    private var end = 0
    private var isSet = false

    init(size: Int, pieceBytes: Int, read: @escaping (Range<Int>) throws -> [UInt8]) {
        (self.size, self.pieceBytes, self.read) = (size, pieceBytes, read)
        unsafe piece = .allocate(capacity: pieceBytes)
    }

    deinit { unsafe piece.deallocate() }

    /// Runs the decoder up to its next event.
    ///
    /// - Throws: `JXLError` at the end of a truncated file.
    func process(_ decoder: OpaquePointer) throws -> JxlDecoderStatus {
        while true {
            let status = isSet ? unsafe JxlDecoderProcessInput(decoder) : JXL_DEC_NEED_MORE_INPUT
            guard status == JXL_DEC_NEED_MORE_INPUT else { return status }
            guard end < size || !isSet else { return try unsafe close(decoder) }
            try unsafe feed(decoder)
        }
    }

    // Bounded throughout: offsets in the file; libjxl leaves at most the bytes that it was given.
    private func feed(_ decoder: OpaquePointer) throws {
        // libjxl wants the bytes again that it has not processed: some 20 at most.
        let left = isSet ? unsafe JxlDecoderReleaseInput(decoder) : 0
        guard end < size, left <= end, left < pieceBytes else { throw JXLError(JXL_DEC_NEED_MORE_INPUT, "truncated") }
        let start = end - left
        let bytes = try read(start..<min(size, start + pieceBytes))
        guard bytes.count > left, bytes.count <= pieceBytes else { throw JXLError(JXL_DEC_NEED_MORE_INPUT, "read") }
        _ = unsafe piece.update(fromContentsOf: bytes)
        try check(unsafe JxlDecoderSetInput(decoder, piece.baseAddress, bytes.count), "set_input")
        (end, isSet) = (start + bytes.count, true)
    }

    /// Signals the end of input, which libjxl may need, and which is an error in a truncated file.
    private func close(_ decoder: OpaquePointer) throws(JXLError) -> JxlDecoderStatus {
        unsafe JxlDecoderCloseInput(decoder)
        let status = unsafe JxlDecoderProcessInput(decoder)
        guard status != JXL_DEC_NEED_MORE_INPUT, status != JXL_DEC_ERROR else {
            throw JXLError(JXL_DEC_NEED_MORE_INPUT, "truncated")
        }
        return status
    }
}

private func check(_ status: JxlDecoderStatus, _ operation: StaticString) throws(JXLError) {
    guard status == JXL_DEC_SUCCESS else { throw JXLError(status, operation) }
}
