import CLibAV
import SafeArithmetic

/// Turns a decoded picture into RGB of another size; owns its SwsContext.
@safe package final class FrameScaler {
    /// What comes out: bands and bits a component.
    package enum Layout: Sendable, Hashable {
        case rgb8, rgba8
        /// 16 bits a component in the machine's own order, for tone mapping.
        case rgb16

        var format: AVPixelFormat {
            switch self {
            case .rgb8: AV_PIX_FMT_RGB24
            case .rgba8: AV_PIX_FMT_RGBA
            case .rgb16: AV_PIX_FMT_RGB48LE
            }
        }

        var bytesPerPixel: Int {
            switch self {
            case .rgb8: 3
            case .rgba8: 4
            case .rgb16: 6
            }
        }
    }

    private let context: OpaquePointer

    private init(adopting context: OpaquePointer) { unsafe self.context = context }

    deinit { unsafe sws_freeContext(context) }

    /// The frame as `width` x `height` pixels without padding between rows, full range, in the frame's own primaries
    /// and transfer.
    package static func pixels(
        of frame: Frame, width: Int, height: Int, layout: Layout
    ) throws(LibAVError) -> [UInt8] {
        let scaler = try open(frame, width: width, height: height, layout: layout)
        try scaler.setColours(of: frame)
        return try scaler.scale(frame, width: width, height: height, layout: layout)
    }

    private static func open(
        _ frame: Frame, width: Int, height: Int, layout: Layout
    ) throws(LibAVError) -> FrameScaler {
        let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP
        let context = unsafe sws_getContext(
            CInt(clamping: frame.width), CInt(clamping: frame.height), AVPixelFormat(frame.raw.pointee.format),
            CInt(clamping: width), CInt(clamping: height),
            layout.format, flags, nil, nil, nil)
        return unsafe FrameScaler(adopting: try LibAVError.allocated(context, "sws_getContext"))
    }

    private func setColours(of frame: Frame) throws(LibAVError) {
        let matrix = unsafe sws_getCoefficients(frame.lumaCoefficients)
        let isFullRange = unsafe frame.raw.pointee.color_range == AVCOL_RANGE_JPEG
        // Refuses RGB and palettes, which have no matrix to set.
        _ = unsafe sws_setColorspaceDetails(
            context, matrix, isFullRange ? 1 : 0, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16)
    }

    private func scale(
        _ frame: Frame, width: Int, height: Int, layout: Layout
    ) throws(LibAVError) -> [UInt8] {
        // C counts in 32 bits, and no more than that fits a frame.
        guard width > 0, height > 0, let stride = CInt(exactly: width.multiplied(clamping: layout.bytesPerPixel)),
            let size = stride.multiplied(exactly: CInt(clamping: height))
        else { throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "sws_scale") }
        // swscale's vector code writes past the end of the last row; the room for it is cut off again.
        let slack = 64
        var rows: CInt = 0
        // Bounded: `size` has 32 bits.
        let pixels = unsafe [UInt8](unsafeUninitializedCapacity: Int(clamping: size) + slack) { buffer, count in
            rows = unsafe convert(frame, into: buffer, stride: stride)
            count = Int(clamping: size)
        }
        try LibAVError.check(rows, "sws_scale")
        if Int(clamping: rows) != height { throw LibAVError(code: CLibAV_errorInvalidData, operation: "sws_scale") }
        return pixels
    }

    private func convert(_ frame: Frame, into buffer: UnsafeMutableBufferPointer<UInt8>, stride: CInt) -> CInt {
        let source = unsafe frame.raw.pointee
        let planes = unsafe [
            UnsafePointer(source.data.0), UnsafePointer(source.data.1), UnsafePointer(source.data.2),
            UnsafePointer(source.data.3),
        ]
        let strides = unsafe [source.linesize.0, source.linesize.1, source.linesize.2, source.linesize.3]
        var targets = unsafe [buffer.baseAddress, nil, nil, nil]
        var targetStrides = [stride, 0, 0, 0]
        return unsafe sws_scale(context, planes, strides, 0, source.height, &targets, &targetStrides)
    }
}

extension Frame {
    /// swscale's number for the luma matrix: by the frame's tag, else by its size, broadcast's own line between SD and
    /// HD.
    var lumaCoefficients: CInt {
        switch unsafe raw.pointee.colorspace {
        case AVCOL_SPC_BT709: SWS_CS_ITU709
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M: SWS_CS_ITU601
        case AVCOL_SPC_FCC: SWS_CS_FCC
        case AVCOL_SPC_SMPTE240M: SWS_CS_SMPTE240M
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: SWS_CS_BT2020
        default: VideoColours.usual(lines: height) == .bt709 ? SWS_CS_ITU709 : SWS_CS_ITU601
        }
    }
}
