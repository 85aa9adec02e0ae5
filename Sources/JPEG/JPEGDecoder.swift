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
    package var width: Int { Int(unsafe decoder.pointee.info.image_width) }
    /// Pixels as stored.
    package var height: Int { Int(unsafe decoder.pointee.info.image_height) }

    /// Whether its components are what planes can hold: luma alone, or luma and two of chroma.
    package var isLumaAndChroma: Bool {
        let space = unsafe decoder.pointee.info.jpeg_color_space
        return space == JCS_YCbCr || space == JCS_GRAYSCALE
    }

    /// Decodes to the end, to so many eighths of the size: luma first.
    ///
    /// - Throws: `JPEGError` when the file ends before its picture does, or cannot be read on.
    package func planes(eighths: Int) throws(JPEGError) -> [JPEGPlane] {
        precondition(Self.reductions.contains(eighths) && isLumaAndChroma, "asked for what libjpeg can reduce")
        try JPEGError.check(unsafe CJPEG_start(decoder, CInt(eighths)), "start_decompress")
        let count = unsafe decoder.pointee.info.num_components
        let shapes = (0..<count).map { unsafe CJPEG_plane_of(decoder, $0) }
        let size = shapes.reduce(0) { $0 + Int($1.stride) * Int($1.rows) }
        var code: CInt = 0
        let buffer = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            code = unsafe CJPEG_read_planes(decoder, buffer.baseAddress)
            filled = code == 0 ? size : 0
        }
        try JPEGError.check(code, "read_raw_data")
        var start = 0
        return shapes.map { shape in
            defer { start += Int(shape.stride) * Int(shape.rows) }
            return Self.plane(shape, buffer[start...])
        }
    }

    /// The samples without what fills the blocks up.
    private static func plane(_ shape: CJPEG_plane, _ buffer: ArraySlice<UInt8>) -> JPEGPlane {
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
