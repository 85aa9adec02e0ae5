import CLibAV

/// An open container; owns its AVFormatContext and reads through nothing but one descriptor.
@safe package final class Demuxer {
    /// More streams than any file for a notification; bounds what a hostile header may allocate.
    private static let streamsMax = 100
    /// Reads that give nothing, one after another; a demuxer that goes on so has lost its way.
    private static let triesMax = 10_000
    /// Bytes of index libav may keep for containers without one: an hour of frames.
    private static let indexBytesMax = 8_000_000

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let input: DescriptorInput

    private init(adopting context: UnsafeMutablePointer<AVFormatContext>, input: DescriptorInput) {
        unsafe self.context = context
        self.input = input
    }

    deinit {
        var closed: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe avformat_close_input(&closed)
    }

    /// Opens the file behind a borrowed descriptor.
    ///
    /// - Parameters:
    ///   - demuxer: A short name of the demuxer to use; nil lets the content decide.
    ///   - arriving: Where the file is still written to: reads wait for what is not there yet.
    package static func open(
        _ descriptor: CInt, demuxer: String?, arriving: ArrivingBytes? = nil, deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> Demuxer {
        LibAV.started
        let input = try DescriptorInput.open(descriptor, arriving: arriving, deadline: deadline)
        let allocated = unsafe try LibAVError.allocated(avformat_alloc_context(), "avformat_alloc_context")
        unsafe allocated.pointee.pb = unsafe input.context
        unsafe allocated.pointee.interrupt_callback = unsafe input.interrupt
        unsafe allocated.pointee.io_open = unsafe refuseToOpen
        unsafe allocated.pointee.max_streams = CInt(clamping: streamsMax)
        unsafe allocated.pointee.max_index_size = UInt32(clamping: indexBytesMax)
        unsafe allocated.pointee.format_whitelist = unsafe av_strdup(AllowList.demuxerList)
        unsafe allocated.pointee.codec_whitelist = unsafe av_strdup(AllowList.decoderList)
        unsafe allocated.pointee.protocol_whitelist = unsafe av_strdup(AllowList.protocolList)
        var opened: UnsafeMutablePointer<AVFormatContext>? = unsafe allocated
        let format = unsafe demuxer.flatMap { unsafe av_find_input_format($0) }
        // Frees the context when it fails.
        unsafe try LibAVError.check(avformat_open_input(&opened, nil, format, nil), "avformat_open_input")
        return unsafe Demuxer(adopting: try LibAVError.allocated(opened, "avformat_open_input"), input: input)
    }

    /// The demuxer's full name, as `AllowList.demuxers` has it.
    package var name: String { unsafe String(cString: context.pointee.iformat.pointee.name) }

    package var metadata: [String: String] { unsafe dictionary(context.pointee.metadata) }

    /// Seconds at which the earliest stream starts; nil while unknown.
    package var startTime: Double? {
        unsafe context.pointee.start_time.timestamp.map { (Double($0) / Double(AV_TIME_BASE)).mediaSeconds }
    }

    /// Seconds by the headers; nil where libav made the number up from bit rates or the last packets there are.
    package var declaredDuration: Double? {
        guard unsafe context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_STREAM else { return nil }
        return unsafe context.pointee.duration.timestamp.map { (Double($0) / Double(AV_TIME_BASE)).mediaSeconds }
    }

    /// Seconds by the container's header or libav's guess; nil while unknown. Files lie about it.
    package var expectedDuration: Double? {
        unsafe context.pointee.duration.timestamp.map { (Double($0) / Double(AV_TIME_BASE)).mediaSeconds }
    }

    /// Bytes of the file.
    package var fileBytes: Int64 { input.size }

    /// The streams as known now; more may come while packets are read.
    package var streams: [StreamDescription] {
        unsafe (0..<Int(clamping: context.pointee.nb_streams)).compactMap { index in
            unsafe stream(index).map { unsafe StreamDescription($0, of: context) }
        }
    }

    package var streamCount: Int { Int(clamping: unsafe context.pointee.nb_streams) }

    func stream(_ index: Int) -> UnsafeMutablePointer<AVStream>? {
        guard (0..<streamCount).contains(index) else { return nil }
        return unsafe context.pointee.streams[index]
    }

    /// Reads on until codecs and rates are known, decoding a little; pictures over `pixelsMax` are not decoded.
    ///
    /// - Parameter bytesMax: Bytes of packets after which the header has to do; nil leaves it to libav.
    package func findStreamInformation(pixelsMax: Int, bytesMax: Int? = nil) throws(LibAVError) {
        if let bytesMax { unsafe context.pointee.probesize = Int64(clamping: bytesMax) }
        let count = Int(clamping: unsafe context.pointee.nb_streams)
        var options = unsafe [OpaquePointer?](repeating: nil, count: count)
        defer { for index in 0..<count { unsafe av_dict_free(&options[index]) } }
        for index in 0..<count {
            unsafe try LibAVError.check(
                av_dict_set_int(&options[index], "max_pixels", Int64(clamping: pixelsMax), 0), "av_dict_set")
            // No one sees these pictures, and of H.264 without reordering it decodes seven.
            unsafe try LibAVError.check(
                av_dict_set(&options[index], "skip_loop_filter", "all", 0), "av_dict_set")
        }
        let code = unsafe options.withUnsafeMutableBufferPointer {
            unsafe avformat_find_stream_info(context, $0.baseAddress)
        }
        try LibAVError.check(code, "avformat_find_stream_info")
    }

    /// Saves the work for all streams but these.
    package func discardStreams(except wanted: Set<Int>) {
        for index in 0..<streamCount {
            guard let stream = unsafe stream(index) else { continue }
            unsafe stream.pointee.discard = wanted.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    /// Reads the next packet; false at the end of the file.
    package func read(into packet: Packet) throws(LibAVError) -> Bool {
        packet.clear()
        var tries = 0
        while true {
            let code = unsafe av_read_frame(context, packet.raw)
            tries += 1
            if code == CLibAV_errorTryAgain, tries < Self.triesMax { continue }
            if code == CLibAV_errorEndOfFile {
                // A read that failed inside a packet is reported as an early end.
                let failure = unsafe context.pointee.pb.pointee.error
                if failure < 0, failure != CLibAV_errorEndOfFile {
                    throw LibAVError(code: failure, operation: "av_read_frame")
                }
                return false
            }
            try LibAVError.check(code, "av_read_frame")
            return true
        }
    }

    /// Goes to the keyframe at or before a tick of the stream; false where the container cannot.
    package func seek(stream index: Int, backwardTo tick: Int64) throws(LibAVError) -> Bool {
        let code = unsafe av_seek_frame(context, CInt(clamping: index), tick, AVSEEK_FLAG_BACKWARD)
        if code == CLibAV_errorExit { throw LibAVError(code: code, operation: "av_seek_frame") }
        return code >= 0
    }

    /// The embedded cover's encoded bytes, up to a limit.
    package func attachedPicture(stream index: Int, bytesMax: Int) -> [UInt8]? {
        guard let stream = unsafe stream(index), unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0,
            let data = unsafe stream.pointee.attached_pic.data
        else { return nil }
        let count = Int(clamping: unsafe stream.pointee.attached_pic.size)
        guard (1...bytesMax).contains(count) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: data, count: count))
    }
}

/// External references of any kind (data references, playlists, image sequences) end here.
@c private func refuseToOpen(
    _ context: UnsafeMutablePointer<AVFormatContext>?,
    _ opened: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
    _ address: UnsafePointer<CChar>?, _ flags: CInt, _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    CLibAV_errorNotPermitted
}
