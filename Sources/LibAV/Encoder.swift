import CLibAV

/// An encoder of any kind; owns its AVCodecContext.
///
/// What makes one (`AudioEncoder`, `VideoEncoder`) sets the context up and starts it.
@safe package final class Encoder {
    /// What `receive` found.
    package enum Reception: Sendable { case packet, needsFrame, ended }

    let context: UnsafeMutablePointer<AVCodecContext>

    private init(adopting context: UnsafeMutablePointer<AVCodecContext>) { unsafe self.context = context }

    deinit {
        var released: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        unsafe avcodec_free_context(&released)
    }

    /// An encoder that is not started yet, by libavcodec's name: `libx264`, `aac`.
    static func make(_ name: String) throws(LibAVError) -> Encoder {
        LibAV.started
        guard AllowList.encoders.contains(name), let found = unsafe avcodec_find_encoder_by_name(name) else {
            throw LibAVError(code: CLibAV_errorEncoderNotFound, operation: "avcodec_find_encoder_by_name")
        }
        let encoder = unsafe Encoder(
            adopting: try LibAVError.allocated(avcodec_alloc_context3(found), "avcodec_alloc_context3"))
        // MP4 keeps parameter sets in its header; no version numbers in the stream.
        unsafe encoder.context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
        return encoder
    }

    /// Opens the encoder.
    ///
    /// - Parameter options: The encoder's own, by libavcodec's names; one that is not known is our mistake, and fails.
    func start(options: [String: String] = [:]) throws(LibAVError) {
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            unsafe try LibAVError.check(
                av_opt_set(context, name, value, AV_OPT_SEARCH_CHILDREN), "av_opt_set")
        }
        unsafe try LibAVError.check(avcodec_open2(context, nil, nil), "avcodec_open2")
    }

    package var timeBase: TimeBase { TimeBase(unsafe context.pointee.time_base) }

    /// Samples of a channel each frame must have, but the last; 0 where any number will do.
    package var frameSize: Int { Int(clamping: unsafe context.pointee.frame_size) }

    /// Hands over a frame, or nil for the end; false when packets have to be received first.
    package func send(_ frame: Frame?) throws(LibAVError) -> Bool {
        let code = unsafe avcodec_send_frame(context, frame?.raw)
        if code == CLibAV_errorTryAgain { return false }
        if code == CLibAV_errorEndOfFile { return true }
        try LibAVError.check(code, "avcodec_send_frame")
        return true
    }

    /// Takes the next packet in decoding order; its times are ticks of `timeBase`.
    package func receive(into packet: Packet) throws(LibAVError) -> Reception {
        let code = unsafe avcodec_receive_packet(context, packet.raw)
        if code == CLibAV_errorTryAgain { return .needsFrame }
        if code == CLibAV_errorEndOfFile { return .ended }
        try LibAVError.check(code, "avcodec_receive_packet")
        return .packet
    }
}
