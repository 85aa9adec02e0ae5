import CLibAV
import SafeArithmetic

/// How a picture's luma and chroma are to be read, by the code points of ISO/IEC 23091-2.
package struct VideoColours: Sendable, Hashable {
    package let matrix: Int32
    package let primaries: Int32
    package let transfer: Int32

    /// HD television.
    package static let bt709 = VideoColours(matrix: 1, primaries: 1, transfer: 1)
    /// SD television of NTSC and PAL; the primaries differ.
    package static let bt601 = VideoColours(matrix: 6, primaries: 6, transfer: 6)
    package static let bt601PAL = VideoColours(matrix: 5, primaries: 5, transfer: 6)

    /// Lines from which on untagged pictures are HD, broadcast's own border.
    private static let linesOfHD = 720

    /// What untagged pictures of so many lines have.
    package static func usual(lines: Int) -> VideoColours { lines < linesOfHD ? bt601 : bt709 }
}

extension Frame {
    /// The colours a 4:2:0 picture made of this one has: its own where devices know them, else HD's or SD's.
    package func outputColours(isToneMapped: Bool) -> VideoColours {
        if isToneMapped { return .bt709 }
        if pixelFormat?.isRGB == true { return .usual(lines: height) }
        switch unsafe raw.pointee.colorspace {
        case AVCOL_SPC_BT709: return .bt709
        case AVCOL_SPC_SMPTE170M: return .bt601
        case AVCOL_SPC_BT470BG:
            return unsafe raw.pointee.color_primaries == AVCOL_PRI_SMPTE170M ? .bt601 : .bt601PAL
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL, AVCOL_SPC_SMPTE240M, AVCOL_SPC_FCC: return .bt709
        default: return .usual(lines: height)
        }
    }

    /// Whether two fields of different moments are woven into it.
    package var isInterlaced: Bool { unsafe raw.pointee.interlaced_frame != 0 }

    /// Whether it is what the encoder takes: 8-bit 4:2:0 in limited range.
    var isPlain420: Bool {
        unsafe raw.pointee.format == AV_PIX_FMT_YUV420P.rawValue && raw.pointee.color_range != AVCOL_RANGE_JPEG
    }

    /// Sets when it is shown, in ticks of the encoder; its picture type is the encoder's to choose.
    package func setTime(_ tick: Int64) {
        unsafe raw.pointee.pts = tick
        unsafe raw.pointee.pict_type = AV_PICTURE_TYPE_NONE
    }

    /// A second reference to the same picture, with times of its own.
    package func reference() throws(LibAVError) -> Frame {
        let copy = try Frame()
        unsafe try LibAVError.check(av_frame_ref(copy.raw, raw), "av_frame_ref")
        return copy
    }

    /// Room for a picture.
    static func picture(width: Int, height: Int, format: AVPixelFormat) throws(LibAVError) -> Frame {
        let frame = try Frame()
        unsafe frame.raw.pointee.width = CInt(clamping: width)
        unsafe frame.raw.pointee.height = CInt(clamping: height)
        unsafe frame.raw.pointee.format = format.rawValue
        unsafe try LibAVError.check(av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        return frame
    }

    /// A picture of red, green, blue and alpha, 8 bits each, rows without padding; alpha is laid on white.
    // Bounded throughout: places in an array that is there, and in a frame of the same sides; 8 bits times 8 bits.
    package static func picture(
        width: Int, height: Int, rgba pixels: [UInt8]
    ) throws(LibAVError) -> Frame {
        guard pixels.count == width.multiplied(clamping: height).multiplied(clamping: 4) else {
            throw LibAVError(code: CLibAV_errorInvalidData, operation: "picture")
        }
        let frame = try picture(width: width, height: height, format: AV_PIX_FMT_RGB24)
        let stride = Int(clamping: unsafe frame.raw.pointee.linesize.0)
        guard let target = unsafe frame.raw.pointee.data.0 else { return frame }
        unsafe pixels.withUnsafeBufferPointer { source in
            for y in 0..<height {
                for x in 0..<width {
                    let pixel = (y * width + x) * 4
                    let alpha = Int(clamping: unsafe source[pixel + 3])
                    for band in 0..<3 {
                        let value = Int(clamping: unsafe source[pixel + band]) * alpha + 255 * (255 - alpha) + 127
                        unsafe target[y * stride + x * 3 + band] = UInt8(value / 255)
                    }
                }
            }
        }
        return frame
    }
}
