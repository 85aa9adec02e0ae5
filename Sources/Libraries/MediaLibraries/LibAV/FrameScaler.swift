import CLibAV
import SafeArithmetic

/// Converts a decoded frame to RGB of another size; owns its SwsContext.
@safe package final class FrameScaler {
    /// Output format: bands and bits per component.
    package enum Layout: Sendable, Hashable {
        case rgb8, rgba8
        /// 16 bits per component, little-endian, for tone mapping.
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

    /// The frame as `width` x `height` pixels without padding between rows, in full range and in the frame's own
    /// primaries and transfer function.
    package static func pixels(
        of frame: Frame, width: Int, height: Int, layout: Layout
    ) throws(LibAVError) -> [UInt8] {
        let scaler = try open(frame, width: width, height: height, layout: layout)
        try scaler.setColors(of: frame)
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
        return unsafe FrameScaler(adopting: try LibAVError.allocated(context, operation: "sws_getContext"))
    }

    private func setColors(of frame: Frame) throws(LibAVError) {
        let matrix = unsafe sws_getCoefficients(frame.lumaCoefficients)
        let isFullRange = unsafe frame.raw.pointee.color_range == AVCOL_RANGE_JPEG
        // Fails for RGB and palettes, which have no matrix to set.
        _ = unsafe sws_setColorspaceDetails(
            context, matrix, isFullRange ? 1 : 0, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16)
    }

    private func scale(
        _ frame: Frame, width: Int, height: Int, layout: Layout
    ) throws(LibAVError) -> [UInt8] {
        // swscale's strides and sizes are 32-bit.
        guard width > 0, height > 0, let stride = CInt(exactly: width.multiplied(clamping: layout.bytesPerPixel)),
            let size = stride.multiplied(exactly: CInt(clamping: height))
        else { throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "sws_scale") }
        // swscale's SIMD code writes past the end of the last row; the extra bytes are cut off below.
        let slack = 64
        var rows: CInt = 0
        let pixels = unsafe [UInt8](unsafeUninitializedCapacity: Int(clamping: size) + slack) { buffer, count in
            rows = unsafe convert(frame, into: buffer, stride: stride)
            count = Int(clamping: size)
        }
        try LibAVError.check(rows, of: "sws_scale")
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
    /// swscale's constant for the luma matrix: from the frame's tag, otherwise from its height by the broadcast limit
    /// between SD and HD.
    var lumaCoefficients: CInt {
        switch unsafe raw.pointee.colorspace {
        case AVCOL_SPC_BT709: SWS_CS_ITU709
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M: SWS_CS_ITU601
        case AVCOL_SPC_FCC: SWS_CS_FCC
        case AVCOL_SPC_SMPTE240M: SWS_CS_SMPTE240M
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: SWS_CS_BT2020
        default: VideoColors.usual(lines: height) == .bt709 ? SWS_CS_ITU709 : SWS_CS_ITU601
        }
    }
}

/// Converts decoded frames of any format to 4:2:0 of one size in limited range; owns its SwsContext, which is reused
/// while the source format stays the same.
///
/// One field is taken of interlaced frames, which avoids combing.
@safe package final class VideoFrameScaler {
    /// The source properties that require a new context when they change.
    private struct SourceFormat: Hashable {
        let width: CInt
        let height: CInt
        let format: CInt
        let isFullRange: Bool
        let matrix: CInt
    }

    private let width: Int
    private let height: Int
    private let colors: VideoColors
    private let output: AVPixelFormat
    private var context: OpaquePointer?
    private var sourceFormat: SourceFormat?

    /// - Parameters:
    ///   - colors: Color description of the output.
    ///   - isDeep: Whether the output has 10 bits and keeps the source's matrix, as input for a `ToneTable`.
    package init(width: Int, height: Int, colors: VideoColors, isDeep: Bool) {
        self.width = width
        self.height = height
        self.colors = colors
        output = isDeep ? AV_PIX_FMT_YUV420P10LE : AV_PIX_FMT_YUV420P
    }

    deinit { unsafe sws_freeContext(context) }

    /// The frame in the new size; a reference to the same pixels if no conversion is needed.
    package func convert(_ frame: Frame) throws(LibAVError) -> Frame {
        if isFitting(frame) { return try frame.reference() }
        let isField = frame.isInterlaced && frame.height > 4
        let now = sourceFormat(of: frame, isField: isField)
        if now != sourceFormat { try open(now) }
        let target = try Frame.video(width: width, height: height, format: output)
        let rows = scale(frame, into: target, isField: isField)
        try LibAVError.check(rows, of: "sws_scale")
        return target
    }

    private func isFitting(_ frame: Frame) -> Bool {
        output == AV_PIX_FMT_YUV420P && frame.isPlain420 && !frame.isInterlaced && frame.width == width
            && frame.height == height && frame.lumaCoefficients == outputCoefficients
    }

    private func sourceFormat(of frame: Frame, isField: Bool) -> SourceFormat {
        SourceFormat(
            width: CInt(clamping: frame.width), height: CInt(clamping: isField ? frame.height / 2 : frame.height),
            format: unsafe Self.plain(frame.raw.pointee.format),
            isFullRange: unsafe frame.raw.pointee.color_range == AVCOL_RANGE_JPEG
                || Self.plain(frame.raw.pointee.format) != frame.raw.pointee.format,
            matrix: frame.lumaCoefficients)
    }

    /// Replaces formats that imply full range (`yuvj…`) by their plain equivalents.
    private static func plain(_ format: CInt) -> CInt {
        switch AVPixelFormat(format) {
        case AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P.rawValue
        case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P.rawValue
        case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P.rawValue
        case AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P.rawValue
        case AV_PIX_FMT_YUVJ411P: AV_PIX_FMT_YUV411P.rawValue
        default: format
        }
    }

    private var outputCoefficients: CInt { colors == .bt709 ? SWS_CS_ITU709 : SWS_CS_ITU601 }

    private func open(_ sourceFormat: SourceFormat) throws(LibAVError) {
        unsafe sws_freeContext(context)
        unsafe context = nil
        let made = unsafe try LibAVError.allocated(sws_alloc_context(), operation: "sws_alloc_context")
        unsafe context = unsafe made
        let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP
        let options: [(String, Int64)] = [
            ("srcw", Int64(clamping: sourceFormat.width)), ("srch", Int64(clamping: sourceFormat.height)),
            ("src_format", Int64(clamping: sourceFormat.format)), ("src_range", sourceFormat.isFullRange ? 1 : 0),
            ("dstw", Int64(clamping: width)), ("dsth", Int64(clamping: height)),
            ("dst_format", Int64(clamping: output.rawValue)),
            ("dst_range", 0), ("sws_flags", Int64(clamping: flags)),
        ]
        for (name, value) in options {
            unsafe try LibAVError.check(
                av_opt_set_int(UnsafeMutableRawPointer(made), name, value, 0), of: "av_opt_set_int")
        }
        unsafe try LibAVError.check(sws_init_context(made, nil, nil), of: "sws_init_context")
        let isDeep = output == AV_PIX_FMT_YUV420P10LE
        // Fails for formats that have no matrix to set.
        _ = unsafe sws_setColorspaceDetails(
            made, sws_getCoefficients(sourceFormat.matrix), sourceFormat.isFullRange ? 1 : 0,
            sws_getCoefficients(isDeep ? sourceFormat.matrix : outputCoefficients), 0, 0, 1 << 16, 1 << 16)
        self.sourceFormat = sourceFormat
    }

    private func scale(_ frame: Frame, into target: Frame, isField: Bool) -> CInt {
        let source = unsafe frame.raw.pointee
        let planes = unsafe [
            UnsafePointer(source.data.0), UnsafePointer(source.data.1), UnsafePointer(source.data.2),
            UnsafePointer(source.data.3),
        ]
        let step: CInt = isField ? 2 : 1
        let isPalette = unsafe AVPixelFormat(source.format) == AV_PIX_FMT_PAL8
        let strides = unsafe [
            source.linesize.0.multiplied(clamping: step),
            isPalette ? source.linesize.1 : source.linesize.1.multiplied(clamping: step),
            source.linesize.2.multiplied(clamping: step), source.linesize.3.multiplied(clamping: step),
        ]
        let output = unsafe target.raw.pointee
        let targets = unsafe [output.data.0, output.data.1, output.data.2, nil]
        let targetStrides = unsafe [output.linesize.0, output.linesize.1, output.linesize.2, 0]
        return unsafe sws_scale(context, planes, strides, 0, source.height / step, targets, targetStrides)
    }
}
