import CLibAV
import SafeArithmetic

/// One decoded video frame or block of audio samples; owns its AVFrame.
@safe package final class Frame {
    let raw: UnsafeMutablePointer<AVFrame>

    package init() throws(LibAVError) {
        unsafe raw = unsafe try LibAVError.allocated(av_frame_alloc(), operation: "av_frame_alloc")
    }

    deinit {
        var released: UnsafeMutablePointer<AVFrame>? = unsafe raw
        unsafe av_frame_free(&released)
    }

    /// Moves the content of another frame here; the other frame is empty afterwards.
    package func moveReference(from other: Frame) {
        unsafe av_frame_unref(raw)
        unsafe av_frame_move_ref(raw, other.raw)
    }

    package var width: Int { max(0, Int(clamping: unsafe raw.pointee.width)) }
    package var height: Int { max(0, Int(clamping: unsafe raw.pointee.height)) }
    /// Ticks of the stream's time base.
    package var presentationTimestamp: Int64? { unsafe raw.pointee.pts.timestamp }
    /// Decoding timestamp of the packet that triggered the output of this frame.
    package var packetTimestamp: Int64? { unsafe raw.pointee.pkt_dts.timestamp }
    package var bestEffortTimestamp: Int64? { unsafe raw.pointee.best_effort_timestamp.timestamp }

    package var pixelFormat: PixelFormat? { PixelFormat(AVPixelFormat(unsafe raw.pointee.format)) }
    package var transfer: StreamDescription.TransferFunction {
        StreamDescription.transfer(unsafe raw.pointee.color_trc)
    }

    /// Sets the luma matrix, a code point of ISO/IEC 23091-2, and the range, as the container declares them.
    package func describe(matrix: Int, isFullRange: Bool) {
        unsafe raw.pointee.colorspace = AVColorSpace(rawValue: UInt32(clamping: matrix))
        unsafe raw.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    }

    /// Whether the frame was coded with reference to others, as reported by the decoder.
    package var isPredicted: Bool {
        let type = unsafe raw.pointee.pict_type
        return type != AV_PICTURE_TYPE_I && type != AV_PICTURE_TYPE_NONE
    }
    /// Whether the decoder concealed errors in parts of the frame.
    package var isConcealed: Bool { unsafe raw.pointee.decode_error_flags != 0 }
    /// Whether reference frames were missing: the frame follows a seek or starts an open group.
    package var isUnrecovered: Bool { unsafe raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 }
}

/// Memory layout of a frame's components.
package struct PixelFormat: Sendable, Hashable {
    /// libavutil's name: `yuv420p`, `yuv420p10le`…
    package let name: String
    /// Bits per sample of the deepest component.
    package let bitDepth: Int
    /// Whether chroma is stored at half width and half height.
    package let isChroma420: Bool
    /// Luma samples per chroma sample, if each component has its own plane, none is alpha and JPEG supports the
    /// subsampling; 1 by 1 for grayscale.
    package let chroma: Chroma?
    /// Whether luma is the only component.
    package let isGray: Bool
    /// Whether one of the components is alpha; a palette's alpha is ignored, because movies keep it opaque.
    package let hasAlpha: Bool
    /// Whether the components are red, green and blue (or palette indexes), not luma and chroma.
    package let isRGB: Bool

    package struct Chroma: Sendable, Hashable {
        package let horizontalSubsampling: Int
        package let verticalSubsampling: Int
    }

    init?(_ format: AVPixelFormat) {
        guard let descriptor = unsafe av_pix_fmt_desc_get(format)?.pointee, let name = unsafe descriptor.name else {
            return nil
        }
        let components = unsafe [
            descriptor.comp.0.depth, descriptor.comp.1.depth, descriptor.comp.2.depth, descriptor.comp.3.depth,
        ]
        let flags = unsafe descriptor.flags
        let planar = UInt64(clamping: AV_PIX_FMT_FLAG_PLANAR)
        let isPlain = flags & ~planar == 0
        let count = unsafe descriptor.nb_components
        isGray = isPlain && count == 1
        let isInPlanes = isPlain && flags & planar != 0 && count == 3
        let (horizontalShift, verticalShift) = unsafe (descriptor.log2_chroma_w, descriptor.log2_chroma_h)
        chroma =
            isGray
            ? Chroma(horizontalSubsampling: 1, verticalSubsampling: 1)
            : isInPlanes && horizontalShift <= 1 && verticalShift <= horizontalShift
                ? Chroma(
                    horizontalSubsampling: horizontalShift == 0 ? 1 : 2,
                    verticalSubsampling: verticalShift == 0 ? 1 : 2) : nil
        self.name = unsafe String(cString: name)
        bitDepth = Int(clamping: components.prefix(Int(clamping: unsafe descriptor.nb_components)).max() ?? 8)
        isRGB = flags & UInt64(clamping: AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
        isChroma420 =
            unsafe descriptor.log2_chroma_w == 1 && descriptor.log2_chroma_h == 1 && descriptor.nb_components >= 3
        hasAlpha =
            flags & UInt64(clamping: AV_PIX_FMT_FLAG_ALPHA) != 0 && flags & UInt64(clamping: AV_PIX_FMT_FLAG_PAL) == 0
    }
}

/// Color description of a frame, in the code points of ISO/IEC 23091-2.
package struct VideoColors: Sendable, Hashable {
    package let matrix: Int32
    package let primaries: Int32
    package let transfer: Int32

    /// HD television.
    package static let bt709 = VideoColors(matrix: 1, primaries: 1, transfer: 1)
    /// SD television of NTSC and PAL; the primaries differ.
    package static let bt601 = VideoColors(matrix: 6, primaries: 6, transfer: 6)
    package static let bt601PAL = VideoColors(matrix: 5, primaries: 5, transfer: 6)

    /// Height in lines from which untagged video is treated as HD, as in broadcasting.
    private static let linesOfHD = 720

    /// Default colors of untagged video with `lines` lines.
    package static func usual(lines: Int) -> VideoColors { lines < linesOfHD ? bt601 : bt709 }
}

extension Frame {
    /// Colors of the 4:2:0 output made from this frame: the source's if devices support them, otherwise HD's or SD's.
    package func outputColors(isToneMapped: Bool) -> VideoColors {
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

    /// Whether the frame interleaves two fields of different times.
    package var isInterlaced: Bool { unsafe raw.pointee.interlaced_frame != 0 }

    /// Whether the encoder accepts the frame as it is: 8-bit 4:2:0 in limited range.
    var isPlain420: Bool {
        unsafe raw.pointee.format == AV_PIX_FMT_YUV420P.rawValue && raw.pointee.color_range != AVCOL_RANGE_JPEG
    }

    /// Sets the presentation time in encoder ticks and lets the encoder choose the picture type.
    package func setTime(_ tick: Int64) {
        unsafe raw.pointee.pts = tick
        unsafe raw.pointee.pict_type = AV_PICTURE_TYPE_NONE
    }

    /// A second reference to the same pixels, with its own times.
    package func reference() throws(LibAVError) -> Frame {
        let copy = try Frame()
        unsafe try LibAVError.check(av_frame_ref(copy.raw, raw), of: "av_frame_ref")
        return copy
    }

    /// Allocates a video frame.
    static func video(width: Int, height: Int, format: AVPixelFormat) throws(LibAVError) -> Frame {
        let frame = try Frame()
        unsafe frame.raw.pointee.width = CInt(clamping: width)
        unsafe frame.raw.pointee.height = CInt(clamping: height)
        unsafe frame.raw.pointee.format = format.rawValue
        unsafe try LibAVError.check(av_frame_get_buffer(frame.raw, 0), of: "av_frame_get_buffer")
        return frame
    }

    /// A frame from red, green, blue and alpha, 8 bits each, in rows without padding; alpha is blended onto white.
    // Bounded throughout: offsets in an array of checked size and in a frame of the same sides; 8 bits times 8 bits.
    package static func video(
        width: Int, height: Int, rgba pixels: [UInt8]
    ) throws(LibAVError) -> Frame {
        guard pixels.count == width.multiplied(clamping: height).multiplied(clamping: 4) else {
            throw LibAVError(code: CLibAV_errorInvalidData, operation: "picture")
        }
        let frame = try video(width: width, height: height, format: AV_PIX_FMT_RGB24)
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

extension Frame {
    /// The meaning of luma and chroma, as far as the bitstream declares them.
    package struct Coding: Sendable, Hashable {
        /// Matrix coefficients by the code points of ISO/IEC 23091-2; 2 if unspecified.
        package let matrix: Int
        /// Primaries and transfer curve by the same code points.
        package let primaries: Int
        package let transfer: Int
        /// Whether luma uses the full range, from 0 for black to the largest value for white.
        package let isFullRange: Bool
    }

    package var coding: Coding {
        Coding(
            matrix: Int(clamping: unsafe raw.pointee.colorspace.rawValue),
            primaries: Int(clamping: unsafe raw.pointee.color_primaries.rawValue),
            transfer: Int(clamping: unsafe raw.pointee.color_trc.rawValue),
            isFullRange: unsafe raw.pointee.color_range == AVCOL_RANGE_JPEG)
    }

    /// Copies the top left part of a component into rows of 8 bits per sample; deeper samples are rounded.
    ///
    /// - Parameters:
    ///   - component: 0 for luma, 1 and 2 for chroma, each in a plane of its own.
    ///   - columns: Samples per row; at most the component's width.
    ///   - rows: Rows to copy; at most the component's height.
    ///   - target: Address of the first sample.
    ///   - stride: Bytes from one target row to the next.
    // Bounded throughout: rows of a component that libav allocated, and of a target that has as many.
    package func copy(
        component: Int, columns: Int, rows: Int, to target: UnsafeMutablePointer<UInt8>, stride: Int
    ) {
        let depth = min(pixelFormat?.bitDepth ?? 8, 16)
        let (data, lineBytes) = unsafe plane(component)
        guard let data = unsafe data else { return }
        for row in 0..<rows {
            let source = unsafe UnsafeRawPointer(data + row * lineBytes)
            let line = unsafe target + row * stride
            if depth <= 8 {
                unsafe UnsafeMutableRawPointer(line).copyMemory(from: source, byteCount: columns)
            } else {
                unsafe Self.round(source.assumingMemoryBound(to: UInt16.self), depth: depth, count: columns, to: line)
            }
        }
    }

    private func plane(_ component: Int) -> (data: UnsafeMutablePointer<UInt8>?, lineBytes: Int) {
        switch component {
        case 0: unsafe (raw.pointee.data.0, Int(clamping: raw.pointee.linesize.0))
        case 1: unsafe (raw.pointee.data.1, Int(clamping: raw.pointee.linesize.1))
        default: unsafe (raw.pointee.data.2, Int(clamping: raw.pointee.linesize.2))
        }
    }

    // Bounded throughout: 9 to 16 bits a sample, in pairs of bytes; `count` samples on either side.
    private static func round(
        _ source: UnsafePointer<UInt16>, depth: Int, count: Int, to target: UnsafeMutablePointer<UInt8>
    ) {
        let shift = UInt16(depth - 8)
        let half = UInt16(1) << (shift - 1)
        for index in 0..<count { unsafe target[index] = UInt8(min(255, (source[index] &+ half) >> shift)) }
    }
}

extension Frame {
    /// Samples per channel; 0 for a video frame.
    package var sampleCount: Int { max(0, Int(clamping: unsafe raw.pointee.nb_samples)) }
    /// Samples per second.
    package var sampleRate: Int { Int(clamping: unsafe raw.pointee.sample_rate) }
    package var channels: Int { max(0, Int(clamping: unsafe raw.pointee.ch_layout.nb_channels)) }

    /// Allocates a frame of planar float samples; one or two channels.
    static func floats(count: Int, channels: Int, sampleRate: Int) throws(LibAVError) -> Frame {
        let frame = try Frame()
        unsafe frame.raw.pointee.nb_samples = CInt(clamping: count)
        unsafe frame.raw.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        unsafe frame.raw.pointee.sample_rate = CInt(clamping: sampleRate)
        unsafe av_channel_layout_default(&frame.raw.pointee.ch_layout, CInt(clamping: channels))
        unsafe try LibAVError.check(av_frame_get_buffer(frame.raw, 0), of: "av_frame_get_buffer")
        return frame
    }

    /// Removes the first `count` samples.
    package func dropFirst(_ count: Int) throws(LibAVError) {
        precondition((0..<sampleCount).contains(count), "something of the frame is left")
        unsafe try LibAVError.check(av_frame_make_writable(raw), of: "av_frame_make_writable")
        let format = AVSampleFormat(unsafe raw.pointee.format)
        // Bounded: `count` is below `sampleCount` by the precondition.
        let rest = CInt(clamping: sampleCount - count)
        // The ranges overlap, which av_samples_copy supports.
        unsafe try LibAVError.check(
            av_samples_copy(
                raw.pointee.extended_data, raw.pointee.extended_data, 0, CInt(clamping: count), rest,
                CInt(clamping: channels), format), of: "av_samples_copy")
        unsafe raw.pointee.nb_samples = rest
    }

    /// Multiplies each float sample by `gain` of its index in the frame.
    package func scaleFloats(_ gain: (Int) -> Float) throws(LibAVError) {
        unsafe try eachPlane { samples in
            // Bounded: floating point.
            for index in samples.indices { unsafe samples[index] *= gain(index) }
        }
    }

    /// Clamps float samples to -peak...peak; NaN becomes silence.
    package func limitFloats(to peak: Float) throws(LibAVError) {
        unsafe try eachPlane { samples in
            for index in samples.indices {
                let sample = unsafe samples[index]
                if abs(sample) <= peak { continue }
                unsafe samples[index] = sample.isNaN ? 0 : sample < 0 ? -peak : peak
            }
        }
    }

    private func eachPlane(_ body: (UnsafeMutableBufferPointer<Float>) -> Void) throws(LibAVError) {
        precondition(unsafe raw.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue, "float samples, a plane a channel")
        unsafe try LibAVError.check(av_frame_make_writable(raw), of: "av_frame_make_writable")
        for channel in 0..<channels {
            guard let plane = unsafe raw.pointee.extended_data[channel] else { continue }
            unsafe plane.withMemoryRebound(to: Float.self, capacity: sampleCount) { samples in
                unsafe body(UnsafeMutableBufferPointer(start: samples, count: sampleCount))
            }
        }
    }

    /// Sample planes as pointers to constant bytes, for C functions that only read.
    var readablePlanes: UnsafeMutablePointer<UnsafePointer<UInt8>?>? {
        unsafe UnsafeMutableRawPointer(raw.pointee.extended_data)?.assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
    }
}
