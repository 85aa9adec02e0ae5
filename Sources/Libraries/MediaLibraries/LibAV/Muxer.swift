import CLibAV
import SafeArithmetic

/// Writes a container; owns its AVFormatContext.
///
/// The index is moved to the front on `finish`, or written into space reserved for it. Titles, locations, dates and
/// the name of the writing software are never written, so the same packets give the same bytes.
@safe package final class Muxer {
    package enum Container: Sendable, Hashable {
        /// A movie, brand `isom`.
        case mpeg4
        /// An audio file, brand `M4A `.
        case mpeg4Audio
        /// MP3 frames after one with the Xing table, without ID3 tags.
        case mp3

        fileprivate var name: String {
            switch self {
            case .mpeg4: "mp4"
            case .mpeg4Audio: "ipod"
            case .mp3: "mp3"
            }
        }
    }

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let container: Container
    private let output: DescriptorOutput

    private init(
        adopting context: UnsafeMutablePointer<AVFormatContext>, _ container: Container, output: DescriptorOutput
    ) {
        unsafe self.context = context
        self.container = container
        self.output = output
    }

    deinit { unsafe avformat_free_context(context) }

    package static func open(_ container: Container, into output: DescriptorOutput) throws(LibAVError) -> Muxer {
        LibAV.started
        precondition(AllowList.muxers.contains(container.name), "a muxer of the list")
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        unsafe try LibAVError.check(
            avformat_alloc_output_context2(&allocated, nil, container.name, nil), of: "avformat_alloc_output_context2")
        let context = unsafe try LibAVError.allocated(allocated, operation: "avformat_alloc_output_context2")
        unsafe context.pointee.pb = unsafe output.context
        unsafe context.pointee.opaque = unsafe Unmanaged.passUnretained(output).toOpaque()
        unsafe context.pointee.protocol_whitelist = unsafe av_strdup(AllowList.protocolList)
        unsafe context.pointee.io_open = unsafe openAgain
        unsafe context.pointee.io_close2 = unsafe closeAgain
        unsafe context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
        return unsafe Muxer(adopting: context, container, output: output)
    }

    /// Adds a stream whose packets are copied, with its parameters, display matrix and HDR side data.
    ///
    /// - Parameter configuration: Replaces the source's decoder configuration; nil keeps it.
    /// - Returns: The stream's index in this container.
    package func addStream(
        copyingFrom demuxer: Demuxer, _ index: Int, configuration: [UInt8]? = nil
    ) throws(LibAVError) -> Int {
        guard let source = unsafe demuxer.stream(index) else {
            throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "stream")
        }
        let stream = unsafe try LibAVError.allocated(
            avformat_new_stream(context, nil), operation: "avformat_new_stream")
        unsafe try LibAVError.check(
            avcodec_parameters_copy(stream.pointee.codecpar, source.pointee.codecpar), of: "avcodec_parameters_copy")
        if let configuration { unsafe try setConfiguration(configuration, of: stream.pointee.codecpar) }
        unsafe try copySideData(source, target: stream)
        unsafe stream.pointee.codecpar.pointee.codec_tag = unsafe tag(stream.pointee.codecpar.pointee.codec_id)
        unsafe stream.pointee.time_base = unsafe source.pointee.time_base
        unsafe stream.pointee.avg_frame_rate = unsafe source.pointee.avg_frame_rate
        unsafe stream.pointee.sample_aspect_ratio = unsafe source.pointee.sample_aspect_ratio
        unsafe stream.pointee.disposition = AV_DISPOSITION_DEFAULT
        return Int(clamping: unsafe stream.pointee.index)
    }

    /// Adds a stream for the packets of a started encoder.
    ///
    /// - Returns: The stream's index in this container.
    package func addStream(of encoder: Encoder) throws(LibAVError) -> Int {
        let stream = unsafe try LibAVError.allocated(
            avformat_new_stream(context, nil), operation: "avformat_new_stream")
        unsafe try LibAVError.check(
            avcodec_parameters_from_context(stream.pointee.codecpar, encoder.context),
            of: "avcodec_parameters_from_context")
        unsafe stream.pointee.time_base = unsafe encoder.context.pointee.time_base
        unsafe stream.pointee.avg_frame_rate = unsafe encoder.context.pointee.framerate
        unsafe stream.pointee.sample_aspect_ratio = unsafe encoder.context.pointee.sample_aspect_ratio
        unsafe stream.pointee.disposition = AV_DISPOSITION_DEFAULT
        return Int(clamping: unsafe stream.pointee.index)
    }

    /// iOS plays HEVC only as `hvc1`; other codecs get the muxer's default tag.
    private func tag(_ codec: AVCodecID) -> UInt32 {
        codec == AV_CODEC_ID_HEVC ? UInt32(littleEndian: 0x3163_7668) : 0
    }

    private func setConfiguration(
        _ configuration: [UInt8], of parameters: UnsafeMutablePointer<AVCodecParameters>
    ) throws(LibAVError) {
        let capacity = configuration.count.adding(clamping: Int(AV_INPUT_BUFFER_PADDING_SIZE))
        let copy = unsafe try LibAVError.allocated(av_mallocz(capacity), operation: "av_mallocz")
        unsafe configuration.withUnsafeBytes {
            unsafe copy.copyMemory(from: $0.baseAddress ?? .init(copy), byteCount: $0.count)
        }
        unsafe av_free(parameters.pointee.extradata)
        // `avcodec_parameters_free` frees it.
        unsafe parameters.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
        unsafe parameters.pointee.extradata_size = CInt(clamping: configuration.count)
    }

    private func copySideData(
        _ source: UnsafeMutablePointer<AVStream>, target: UnsafeMutablePointer<AVStream>
    ) throws(LibAVError) {
        for kind in [AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_DOVI_CONF, AV_PKT_DATA_MASTERING_DISPLAY_METADATA] {
            var size = 0
            guard let bytes = unsafe av_stream_get_side_data(source, kind, &size) else { continue }
            let copy = unsafe try LibAVError.allocated(
                av_stream_new_side_data(target, kind, size), operation: "av_stream_new_side_data")
            unsafe copy.update(from: bytes, count: size)
        }
    }

    /// Writes the header; no stream can be added afterwards.
    ///
    /// - Parameter indexBytes: Bytes reserved for the index, which avoids moving the whole file; `finish` throws if
    ///   they are too few.
    package func writeHeader(indexBytes: Int? = nil) throws(LibAVError) {
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        if container == .mp3 {
            unsafe try LibAVError.check(av_dict_set(&options, "id3v2_version", "0", 0), of: "av_dict_set")
        } else if let indexBytes {
            unsafe try LibAVError.check(
                av_dict_set_int(&options, "moov_size", Int64(clamping: indexBytes), 0), of: "av_dict_set")
        } else {
            unsafe try LibAVError.check(av_dict_set(&options, "movflags", "+faststart", 0), of: "av_dict_set")
        }
        unsafe try LibAVError.check(avformat_write_header(context, &options), of: "avformat_write_header")
    }

    /// Writes a packet and leaves it empty; the muxer buffers it until the other streams have reached the same time.
    ///
    /// - Parameters:
    ///   - stream: The index returned by `addStream`.
    ///   - timeBase: Time base of the packet's times.
    package func write(_ packet: Packet, stream: Int, timeBase: TimeBase) throws(LibAVError) {
        guard (0..<Int(clamping: unsafe context.pointee.nb_streams)).contains(stream),
            let target = unsafe context.pointee.streams[stream]
        else { throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "stream") }
        unsafe av_packet_rescale_ts(packet.raw, timeBase.rational, target.pointee.time_base)
        unsafe packet.raw.pointee.stream_index = CInt(clamping: stream)
        unsafe packet.raw.pointee.pos = -1
        unsafe try LibAVError.check(av_interleaved_write_frame(context, packet.raw), of: "av_interleaved_write_frame")
    }

    /// Writes the index to the front.
    ///
    /// - Returns: File size in bytes.
    package func finish() throws(LibAVError) -> Int {
        unsafe try LibAVError.check(av_write_trailer(context), of: "av_write_trailer")
        unsafe avio_flush(output.context)
        unsafe try LibAVError.check(output.context.pointee.error, of: "avio_flush")
        if output.writeError != nil { throw LibAVError(code: CLibAV_errorInputOutput, operation: "avio_flush") }
        return output.byteCount
    }
}

/// Lets the muxer read its own output, to move the index to the front.
@c private func openAgain(
    _ context: UnsafeMutablePointer<AVFormatContext>?,
    opened: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
    address: UnsafePointer<CChar>?, flags: CInt, options: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    guard flags == AVIO_FLAG_READ, let opened = unsafe opened, let output = unsafe output(of: context) else {
        return CLibAV_errorNotPermitted
    }
    do {
        unsafe opened.pointee = unsafe try output.openReading()
        return 0
    } catch {
        return CLibAV_errorInputOutput
    }
}

@c private func closeAgain(
    _ context: UnsafeMutablePointer<AVFormatContext>?, closed: UnsafeMutablePointer<AVIOContext>?
) -> CInt {
    unsafe output(of: context)?.closeReading()
    return 0
}

private func output(of context: UnsafeMutablePointer<AVFormatContext>?) -> DescriptorOutput? {
    guard let opaque = unsafe context?.pointee.opaque else { return nil }
    return unsafe Unmanaged<DescriptorOutput>.fromOpaque(opaque).takeUnretainedValue()
}
