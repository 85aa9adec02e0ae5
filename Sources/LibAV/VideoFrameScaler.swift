import CLibAV
import SafeArithmetic

/// Turns decoded pictures of any kind into 4:2:0 of one size in limited range; owns its SwsContext, which it keeps as
/// long as the pictures stay alike.
///
/// Of interlaced pictures one field is taken, so that nothing combs.
@safe package final class VideoFrameScaler {
    /// What makes another context necessary.
    private struct Likeness: Hashable {
        let width: CInt
        let height: CInt
        let format: CInt
        let isFullRange: Bool
        let matrix: CInt
    }

    private let width: Int
    private let height: Int
    private let colours: VideoColours
    private let output: AVPixelFormat
    private var context: OpaquePointer?
    private var likeness: Likeness?

    /// - Parameters:
    ///   - colours: What comes out is read by.
    ///   - isDeep: Whether 10 bits come out, still in the matrix of the source, for a `ToneTable`.
    package init(width: Int, height: Int, colours: VideoColours, isDeep: Bool) {
        self.width = width
        self.height = height
        self.colours = colours
        output = isDeep ? AV_PIX_FMT_YUV420P10LE : AV_PIX_FMT_YUV420P
    }

    deinit { unsafe sws_freeContext(context) }

    /// The picture in the new size; the same picture where nothing is to be done.
    package func convert(_ frame: Frame) throws(LibAVError) -> Frame {
        if isFitting(frame) { return try frame.reference() }
        let isField = frame.isInterlaced && frame.height > 4
        let now = likeness(of: frame, isField: isField)
        if now != likeness { try open(now) }
        let target = try Frame.picture(width: width, height: height, format: output)
        let rows = scale(frame, into: target, isField: isField)
        try LibAVError.check(rows, "sws_scale")
        return target
    }

    private func isFitting(_ frame: Frame) -> Bool {
        output == AV_PIX_FMT_YUV420P && frame.isPlain420 && !frame.isInterlaced && frame.width == width
            && frame.height == height && frame.lumaCoefficients == outputCoefficients
    }

    private func likeness(of frame: Frame, isField: Bool) -> Likeness {
        Likeness(
            width: CInt(clamping: frame.width), height: CInt(clamping: isField ? frame.height / 2 : frame.height),
            format: unsafe Self.plain(frame.raw.pointee.format),
            isFullRange: unsafe frame.raw.pointee.color_range == AVCOL_RANGE_JPEG
                || Self.plain(frame.raw.pointee.format) != frame.raw.pointee.format,
            matrix: frame.lumaCoefficients)
    }

    /// The formats that have full range in their name, without it.
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

    private var outputCoefficients: CInt { colours == .bt709 ? SWS_CS_ITU709 : SWS_CS_ITU601 }

    private func open(_ likeness: Likeness) throws(LibAVError) {
        unsafe sws_freeContext(context)
        unsafe context = nil
        let made = unsafe try LibAVError.allocated(sws_alloc_context(), "sws_alloc_context")
        unsafe context = unsafe made
        let flags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP
        let options: [(String, Int64)] = [
            ("srcw", Int64(clamping: likeness.width)), ("srch", Int64(clamping: likeness.height)),
            ("src_format", Int64(clamping: likeness.format)), ("src_range", likeness.isFullRange ? 1 : 0),
            ("dstw", Int64(clamping: width)), ("dsth", Int64(clamping: height)),
            ("dst_format", Int64(clamping: output.rawValue)),
            ("dst_range", 0), ("sws_flags", Int64(clamping: flags)),
        ]
        for (name, value) in options {
            unsafe try LibAVError.check(
                av_opt_set_int(UnsafeMutableRawPointer(made), name, value, 0), "av_opt_set_int")
        }
        unsafe try LibAVError.check(sws_init_context(made, nil, nil), "sws_init_context")
        let isDeep = output == AV_PIX_FMT_YUV420P10LE
        // Refuses what has no matrix to set.
        _ = unsafe sws_setColorspaceDetails(
            made, sws_getCoefficients(likeness.matrix), likeness.isFullRange ? 1 : 0,
            sws_getCoefficients(isDeep ? likeness.matrix : outputCoefficients), 0, 0, 1 << 16, 1 << 16)
        self.likeness = likeness
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
        // Bounded: `step` is 1 or 2.
        return unsafe sws_scale(context, planes, strides, 0, source.height / step, targets, targetStrides)
    }
}
