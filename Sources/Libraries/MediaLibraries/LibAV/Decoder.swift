import CLibAV
import SafeArithmetic

/// An open decoder; owns its AVCodecContext.
@safe package final class Decoder {
    /// Result of `receive`.
    package enum DecodeStatus: Sendable { case frame, needsPacket, ended }

    let context: UnsafeMutablePointer<AVCodecContext>
    /// Whether any frame was decoded, so that the context has what only the data tells.
    package private(set) var hasDecoded = false

    private init(adopting context: UnsafeMutablePointer<AVCodecContext>) { unsafe self.context = context }

    deinit {
        var released: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        unsafe avcodec_free_context(&released)
    }

    /// Opens the decoder of a stream.
    ///
    /// - Parameter threads: With more than one, each frame and each error is reported one packet per thread later.
    package static func open(
        stream index: Int, of demuxer: Demuxer, threads: Int = 1, pixelsMax: Int
    ) throws(LibAVError) -> Decoder {
        guard let stream = unsafe demuxer.stream(index) else {
            throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "stream")
        }
        let decoder = try make(unsafe stream.pointee.codecpar.pointee.codec_id)
        unsafe try LibAVError.check(
            avcodec_parameters_to_context(decoder.context, stream.pointee.codecpar), of: "avcodec_parameters_to_context"
        )
        unsafe decoder.context.pointee.pkt_timebase = unsafe stream.pointee.time_base
        try decoder.start(threads: threads, pixelsMax: pixelsMax)
        return decoder
    }

    /// Opens the decoder for whole BMP files.
    package static func bmp(pixelsMax: Int) throws(LibAVError) -> Decoder {
        LibAV.started
        let decoder = try make(AV_CODEC_ID_BMP)
        try decoder.start(threads: 1, pixelsMax: pixelsMax)
        return decoder
    }

    /// Codec of independently coded images.
    package enum StillCodec: Sendable, Hashable { case hevc, av1 }

    /// Opens the decoder for independently coded images, one per packet.
    ///
    /// - Parameters:
    ///   - configuration: Decoder configuration stored apart from the images, as in `hvcC`; empty if there is none.
    ///   - threads: Number of frame threads, each of which decodes one image.
    package static func stills(
        _ codec: StillCodec, configuration: [UInt8], threads: Int, pixelsMax: Int
    ) throws(LibAVError) -> Decoder {
        LibAV.started
        let decoder = try make(codec == .hevc ? AV_CODEC_ID_HEVC : AV_CODEC_ID_AV1)
        try decoder.configure(configuration)
        unsafe decoder.context.pointee.thread_type = FF_THREAD_FRAME
        // An image with an unreadable part is rejected.
        unsafe decoder.context.pointee.err_recognition = AV_EF_EXPLODE
        try decoder.start(threads: threads, pixelsMax: pixelsMax)
        return decoder
    }

    private func configure(_ configuration: [UInt8]) throws(LibAVError) {
        guard !configuration.isEmpty else { return }
        guard let size = CInt(exactly: configuration.count) else {
            throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "extradata")
        }
        let capacity = configuration.count.adding(clamping: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        let copy = unsafe try LibAVError.allocated(av_mallocz(capacity), operation: "av_mallocz")
        unsafe configuration.withUnsafeBytes {
            unsafe copy.copyMemory(from: $0.baseAddress ?? .init(copy), byteCount: $0.count)
        }
        // `avcodec_free_context` frees it.
        unsafe context.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
        unsafe context.pointee.extradata_size = size
    }

    private static func make(_ codec: AVCodecID) throws(LibAVError) -> Decoder {
        guard let found = unsafe LibAV.decoder(codec) else {
            throw LibAVError(code: CLibAV_errorDecoderNotFound, operation: "avcodec_find_decoder")
        }
        return unsafe Decoder(
            adopting: try LibAVError.allocated(avcodec_alloc_context3(found), operation: "avcodec_alloc_context3"))
    }

    private func start(threads: Int, pixelsMax: Int) throws(LibAVError) {
        unsafe context.pointee.max_pixels = Int64(clamping: pixelsMax)
        unsafe context.pointee.thread_count = CInt(clamping: threads)
        // Without it, H.264 drops the last frames of a group that begins with a recovery point.
        unsafe context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
        unsafe context.pointee.codec_whitelist = unsafe av_strdup(AllowList.decoderList)
        unsafe try LibAVError.check(avcodec_open2(context, nil, nil), of: "avcodec_open2")
    }

    /// Whether frames that no other frame refers to are skipped.
    package var skipsNonReference = false {
        didSet { unsafe context.pointee.skip_frame = skipsNonReference ? AVDISCARD_NONREF : AVDISCARD_DEFAULT }
    }

    /// Whether the loop filter is skipped: the output is not exact, but all of the bitstream is still parsed.
    package var skipsLoopFilter = false {
        didSet { unsafe context.pointee.skip_loop_filter = skipsLoopFilter ? AVDISCARD_ALL : AVDISCARD_DEFAULT }
    }

    /// Sends a packet, or nil to start draining; returns false when frames have to be received first.
    package func send(_ packet: Packet?) throws(LibAVError) -> Bool {
        let code = unsafe avcodec_send_packet(context, packet?.raw)
        if code == CLibAV_errorTryAgain { return false }
        if code == CLibAV_errorEndOfFile { return true }
        try LibAVError.check(code, of: "avcodec_send_packet")
        return true
    }

    /// Receives the next frame in presentation order.
    package func receive(into frame: Frame) throws(LibAVError) -> DecodeStatus {
        let code = unsafe avcodec_receive_frame(context, frame.raw)
        if code == CLibAV_errorTryAgain { return .needsPacket }
        if code == CLibAV_errorEndOfFile { return .ended }
        try LibAVError.check(code, of: "avcodec_receive_frame")
        hasDecoded = true
        return .frame
    }

    /// Discards all queued packets and frames; the detected encoder version is kept.
    package func flush() { unsafe avcodec_flush_buffers(context) }
}
