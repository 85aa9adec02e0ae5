import CJPEG

/// Decodes a JPEG into its components, reduced while it is decoded; owns libjpeg's decompressor.
///
/// Nothing is converted: luma stays luma, and chroma has the size it is stored at. What follows works on less that way.
///
/// C: `jpeg_read_raw_data` of libjpeg-turbo, with `scale_num`.
@safe package final class JPEGDecoder {
    /// How far a picture may be reduced while it is decoded, in eighths: those that libjpeg-turbo has vector code for.
    package static let reductions = [1, 2, 4, 8]

    private let decoder: UnsafeMutablePointer<CJPEG_decoder>

    /// Reads the header of a file; the descriptor is borrowed and stays open while this lives.
    package init(descriptor: CInt) throws(JPEGError) {
        guard let decoder = unsafe CJPEG_decoder_new(descriptor) else { throw JPEGError("create_decompress") }
        unsafe self.decoder = decoder
        try JPEGError.check(unsafe CJPEG_read_header(decoder), "read_header")
    }

    deinit {
        unsafe CJPEG_decoder_free(decoder)
    }

    /// Pixels as stored.
    package var width: Int { Int(clamping: unsafe decoder.pointee.info.image_width) }
    /// Pixels as stored.
    package var height: Int { Int(clamping: unsafe decoder.pointee.info.image_height) }

    /// Whether its components are what planes can hold: luma alone, or luma and two of chroma.
    package var isLumaAndChroma: Bool {
        let space = unsafe decoder.pointee.info.jpeg_color_space
        return space == JCS_YCbCr || space == JCS_GRAYSCALE
    }

    /// Whether libjpeg-turbo can bring all components to one size.
    package var hasWholeFactors: Bool { unsafe CJPEG_has_whole_factors(decoder) != 0 }

    /// Decodes to EOI, to so many eighths of the size: luma first.
    ///
    /// - Parameter isCareful: Whether each Huffman code is looked at, for a picture that `BaselineDecoder` has not
    ///   found intact: libjpeg-turbo's quick decoder takes bits that are no code for zeros.
    /// - Throws: `JPEGDamage` when data had to be invented, `JPEGError` when the file cannot be read on.
    package func planes(eighths: Int, isCareful: Bool = true) throws -> [JPEGPlane] {
        precondition(Self.reductions.contains(eighths), "asked for what libjpeg can reduce")
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
        try JPEGError.check(code, "read_raw_data")
        if let damage = finish() { throw damage }
        var start = 0
        return shapes.map { shape in
            // Bounded: as `size`, of which it is a part.
            defer { start += Int(shape.stride) * Int(shape.rows) }
            return Self.plane(shape, buffer[start...])
        }
    }

    /// Decodes to EOI for what is found on the way: nothing is kept.
    ///
    /// - Returns: Nil when no data had to be invented.
    /// - Throws: `JPEGError` when the file cannot be read on.
    func readThrough() throws(JPEGError) -> JPEGDamage? {
        try start(eighths: 1, isCareful: true, toPixels: false)
        try JPEGError.check(unsafe CJPEG_read_through(decoder), "read_raw_data")
        return finish()
    }

    /// A damaged picture as far as it is there, as red, green and blue by turns; what is not there is grey, or what
    /// libjpeg makes of the bits it finds.
    ///
    /// - Throws: `JPEGError` when the file cannot be read on, or has inks for colours.
    package func salvagedPixels(eighths: Int) throws(JPEGError) -> (width: Int, height: Int, pixels: [UInt8]) {
        precondition(Self.reductions.contains(eighths), "asked for what libjpeg can reduce")
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
        try JPEGError.check(code, "read_scanlines")
        return (width, height, pixels)
    }

    private func start(eighths: Int, isCareful: Bool, toPixels: Bool) throws(JPEGError) {
        let code = unsafe CJPEG_start(decoder, CInt(clamping: eighths), isCareful ? 1 : 0, toPixels ? 1 : 0)
        try JPEGError.check(code, "start_decompress")
    }

    /// Reads what is behind the last row.
    private func finish() -> JPEGDamage? {
        // What is wrong there is counted.
        _ = unsafe CJPEG_finish(decoder)
        guard unsafe CJPEG_inventions(decoder) > 0 else { return nil }
        if unsafe CJPEG_ends_in_zeros(decoder) != 0 { return JPEGDamage(intactShare: 0) }
        var rows: UInt32 = 0
        let intact = unsafe CJPEG_intact_rows(decoder, &rows)
        return JPEGDamage(intactShare: rows == 0 ? 0 : Double(intact) / Double(rows))
    }

    /// The samples without what fills the blocks up.
    private static func plane(_ shape: CJPEG_plane, _ buffer: ArraySlice<UInt8>) -> JPEGPlane {
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
