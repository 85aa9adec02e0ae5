import CLibAV

/// One decoded picture or run of samples; owns its AVFrame.
@safe package final class Frame {
    let raw: UnsafeMutablePointer<AVFrame>

    package init() throws(LibAVError) {
        unsafe raw = unsafe try LibAVError.allocated(av_frame_alloc(), "av_frame_alloc")
    }

    deinit {
        var released: UnsafeMutablePointer<AVFrame>? = unsafe raw
        unsafe av_frame_free(&released)
    }

    /// Moves the picture of another frame here; that one is empty then.
    package func take(_ other: Frame) {
        unsafe av_frame_unref(raw)
        unsafe av_frame_move_ref(raw, other.raw)
    }

    package var width: Int { max(0, Int(clamping: unsafe raw.pointee.width)) }
    package var height: Int { max(0, Int(clamping: unsafe raw.pointee.height)) }
    /// Ticks of the stream's time base.
    package var presentationTimestamp: Int64? { unsafe raw.pointee.pts.timestamp }
    /// Decoding timestamp of the packet that pushed it out.
    package var packetTimestamp: Int64? { unsafe raw.pointee.pkt_dts.timestamp }
    package var bestEffortTimestamp: Int64? { unsafe raw.pointee.best_effort_timestamp.timestamp }

    package var pixelFormat: PixelFormat? { PixelFormat(AVPixelFormat(unsafe raw.pointee.format)) }
    package var transfer: StreamDescription.Transfer { StreamDescription.transfer(unsafe raw.pointee.color_trc) }
    package var sampleAspectRatio: Double? { unsafe raw.pointee.sample_aspect_ratio.positive }

    /// Whether the picture was coded looking at others, as far as the decoder says.
    package var isPredicted: Bool {
        let type = unsafe raw.pointee.pict_type
        return type != AV_PICTURE_TYPE_I && type != AV_PICTURE_TYPE_NONE
    }
    /// Whether the decoder made parts of it up.
    package var isConcealed: Bool { unsafe raw.pointee.decode_error_flags != 0 }
    /// Whether pictures it refers to were not there: it follows a seek, or starts an open group.
    package var isUnrecovered: Bool { unsafe raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 }
}
