import CJPEG

/// Decodes a JPEG into its components, optionally at a reduced size. Owns libjpeg's decompressor.
///
/// No color conversion and no chroma upsampling is done, so that later steps process fewer samples.
///
/// C: `jpeg_read_raw_data` of libjpeg-turbo, with `scale_num`.
@safe package final class JPEGDecoder {
    /// The supported sizes in eighths: those for which libjpeg-turbo has SIMD code.
    package static let reductions = [1, 2, 4, 8]

    private let decoder: UnsafeMutablePointer<CJPEG_decoder>

    /// Reads the header of a file. The descriptor is borrowed and must stay open while the decoder exists.
    package init(descriptor: CInt) throws(JPEGError) {
        guard let decoder = unsafe CJPEG_decoder_new(descriptor) else { throw JPEGError("create_decompress") }
        unsafe self.decoder = decoder
        try JPEGError.check(unsafe CJPEG_read_header(decoder), of: "read_header")
    }

    deinit {
        unsafe CJPEG_decoder_free(decoder)
    }

    /// Width in pixels, as stored.
    package var width: Int { Int(clamping: unsafe decoder.pointee.info.image_width) }
    /// Height in pixels, as stored.
    package var height: Int { Int(clamping: unsafe decoder.pointee.info.image_height) }

    /// Whether the components are supported by `planes`: luma alone, or luma and two of chroma.
    package var isLumaAndChroma: Bool {
        let space = unsafe decoder.pointee.info.jpeg_color_space
        return space == JCS_YCbCr || space == JCS_GRAYSCALE
    }

    /// Whether every sampling factor divides the largest one, which libjpeg-turbo needs to upsample the components.
    package var hasWholeFactors: Bool { unsafe CJPEG_has_whole_factors(decoder) != 0 }

    /// Decodes to EOI at the given number of eighths of the size: luma first.
    ///
    /// - Parameter isCareful: Whether every Huffman code is checked, for an image that `BaselineDecoder` has not found
    ///   intact: libjpeg-turbo's fast decoder reads invalid codes as zeros.
    /// - Throws: `JPEGDamageError` for damaged data or a missing end, `JPEGError` when decoding cannot continue.
    package func planes(eighths: Int, isCareful: Bool = true) throws -> [JPEGPlane] {
        precondition(Self.reductions.contains(eighths), "unsupported reduction")
        guard isLumaAndChroma else { throw JPEGError("color_space") }
        try start(eighths: eighths, isCareful: isCareful, toPixels: false)
        let count = unsafe decoder.pointee.info.num_components
        let shapes = (0..<count).map { unsafe CJPEG_plane_of(decoder, $0) }
        // Bounded: at most three components, whose strides and rows have some 16 bits.
        let size = shapes.reduce(0) { $0 + Int($1.stride) * Int($1.rows) }
        var code: CInt = 0
        let buffer = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            code = unsafe CJPEG_read_planes(decoder, buffer.baseAddress)
            filled = code == 0 ? size : 0
        }
        try JPEGError.check(code, of: "read_raw_data")
        switch finish() {
        case .damaged(let damage): throw damage
        case .endMissing: throw JPEGDamageError(intactShare: 1)
        case .intact, .unreadable: break
        }
        var start = 0
        return shapes.map { shape in
            // Bounded: a part of `size`.
            defer { start += Int(shape.stride) * Int(shape.rows) }
            return Self.plane(shape, buffer: buffer[start...])
        }
    }

    /// Whether the file ends in zeros where its EOI should be: space that was allocated and never written.
    var endsInZeros: Bool { unsafe CJPEG_ends_in_zeros(decoder) != 0 }

    /// Decodes to EOI to check the coded data; discards the samples.
    ///
    /// - Throws: `JPEGError` when decoding cannot continue.
    func readThrough() throws(JPEGError) -> JPEGValidation {
        try start(eighths: 1, isCareful: true, toPixels: false)
        try JPEGError.check(unsafe CJPEG_read_through(decoder), of: "read_raw_data")
        return finish()
    }

    /// The recoverable part of a damaged image as interleaved RGB; missing parts are gray, or whatever libjpeg decodes
    /// from the invalid bits.
    ///
    /// - Throws: `JPEGError` when decoding cannot continue, or for CMYK.
    package func recoveredPixels(eighths: Int) throws(JPEGError) -> (width: Int, height: Int, pixels: [UInt8]) {
        precondition(Self.reductions.contains(eighths), "unsupported reduction")
        try start(eighths: eighths, isCareful: true, toPixels: true)
        let width = Int(clamping: unsafe decoder.pointee.info.output_width)
        let height = Int(clamping: unsafe decoder.pointee.info.output_height)
        // Bounded: sides have 16 bits.
        let size = width * height * 3
        var code: CInt = 0
        let pixels = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            code = unsafe CJPEG_read_pixels(decoder, buffer.baseAddress)
            filled = code == 0 ? size : 0
        }
        try JPEGError.check(code, of: "read_scanlines")
        return (width, height, pixels)
    }

    private func start(eighths: Int, isCareful: Bool, toPixels: Bool) throws(JPEGError) {
        let code = unsafe CJPEG_start(decoder, CInt(clamping: eighths), isCareful ? 1 : 0, toPixels ? 1 : 0)
        try JPEGError.check(code, of: "start_decompress")
    }

    /// Reads from the last row to EOI, and judges what was read.
    private func finish() -> JPEGValidation {
        // Errors after the last row are counted in `CJPEG_inventions`.
        _ = unsafe CJPEG_finish(decoder)
        guard unsafe CJPEG_inventions(decoder) > 0 else { return .intact }
        // Data is missing anywhere in a file that is damaged before its end, so that what follows is not in its place.
        guard !endsInZeros, unsafe CJPEG_is_cut(decoder) != 0 else {
            return .damaged(JPEGDamageError(intactShare: 0))
        }
        if unsafe CJPEG_lacks_only_end(decoder) != 0 { return .endMissing }
        var rows: UInt32 = 0
        let intact = unsafe CJPEG_intact_rows(decoder, &rows)
        return .damaged(JPEGDamageError(intactShare: rows == 0 ? 0 : Double(intact) / Double(rows)))
    }

    /// The samples without the padding to whole blocks.
    private static func plane(_ shape: CJPEG_plane, buffer: ArraySlice<UInt8>) -> JPEGPlane {
        // Bounded throughout: `CJPEG_plane_of` gives sides of 16 bits, a stride of at least the width, and at least as
        // many rows as the height.
        let (width, height, stride) = (Int(shape.width), Int(shape.height), Int(shape.stride))
        var samples: [UInt8] = []
        samples.reserveCapacity(width * height)
        for row in 0..<height {
            let start = buffer.startIndex + row * stride
            samples += buffer[start..<(start + width)]
        }
        return JPEGPlane(width: width, height: height, samples: samples)
    }
}

/// One component of an image: 8 bits a sample, rows without padding.
package struct JPEGPlane: Sendable, Hashable {
    package let width: Int
    package let height: Int
    /// `width * height` samples.
    package let samples: [UInt8]

    package init(width: Int, height: Int, samples: [UInt8]) {
        // Bounded: callers have counted their samples in memory.
        precondition(samples.count == width * height, "a plane holds width x height samples")
        self.width = width
        self.height = height
        self.samples = samples
    }
}

/// A failed libjpeg call, identified by its operation: for the log only.
package struct JPEGError: Error, Sendable, Hashable {
    package let operation: String

    init(_ operation: StaticString) { self.operation = "\(operation)" }

    static func check(_ code: CInt, of operation: StaticString) throws(JPEGError) {
        if code != 0 { throw JPEGError(operation) }
    }
}
