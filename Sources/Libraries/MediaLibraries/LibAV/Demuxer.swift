import CLibAV
import SafeArithmetic

/// An open container; owns its AVFormatContext and reads from one descriptor only.
@safe package final class Demuxer {
    /// Maximum number of streams; limits what a hostile header can make libav allocate.
    private static let streamsMax = 100
    /// Consecutive reads without a packet after which reading fails.
    private static let triesMax = 10_000
    /// Maximum size in bytes of the index that libav builds for containers without one: about an hour of frames.
    private static let indexBytesMax = 8_000_000

    private let context: UnsafeMutablePointer<AVFormatContext>
    private let input: DescriptorInput
    /// The demuxer's full name, as in `AllowList.demuxers`.
    package let name: String
    /// Whether the edits of an MP4 are applied; else only the start of the first one is.
    package let appliesEdits: Bool

    private init(
        adopting context: UnsafeMutablePointer<AVFormatContext>, input: DescriptorInput, appliesEdits: Bool
    ) {
        unsafe self.context = context
        self.input = input
        self.appliesEdits = appliesEdits
        name = unsafe String(cString: context.pointee.iformat.pointee.name)
    }

    deinit {
        var closed: UnsafeMutablePointer<AVFormatContext>? = unsafe context
        unsafe avformat_close_input(&closed)
    }

    /// Opens the file behind a borrowed descriptor.
    ///
    /// - Parameters:
    ///   - demuxer: Short name of the demuxer to use; nil selects it by content.
    ///   - downloading: Set while the file is still being written: reads wait for missing bytes.
    ///   - appliesEdits: Whether the edits of an MP4 are applied; else only the start of the first one is.
    package static func open(
        _ descriptor: CInt, demuxer: String?, downloading: DownloadingBytes? = nil, appliesEdits: Bool = true,
        deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> Demuxer {
        let input = try DescriptorInput.open(descriptor, downloading: downloading, deadline: deadline)
        LibAV.started
        let allocated = unsafe try LibAVError.allocated(avformat_alloc_context(), operation: "avformat_alloc_context")
        unsafe allocated.pointee.pb = unsafe input.context
        unsafe allocated.pointee.interrupt_callback = unsafe input.interrupt
        unsafe allocated.pointee.io_open = unsafe rejectOpen
        unsafe allocated.pointee.max_streams = CInt(clamping: streamsMax)
        unsafe allocated.pointee.max_index_size = UInt32(clamping: indexBytesMax)
        unsafe allocated.pointee.format_whitelist = unsafe av_strdup(AllowList.demuxerList)
        unsafe allocated.pointee.codec_whitelist = unsafe av_strdup(AllowList.decoderList)
        unsafe allocated.pointee.protocol_whitelist = unsafe av_strdup(AllowList.protocolList)
        var opened: UnsafeMutablePointer<AVFormatContext>? = unsafe allocated
        let format = unsafe demuxer.flatMap { unsafe av_find_input_format($0) }
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        if !appliesEdits {
            unsafe try LibAVError.check(av_dict_set(&options, "advanced_editlist", "0", 0), of: "av_dict_set")
        }
        // Frees the context when it fails.
        unsafe try LibAVError.check(avformat_open_input(&opened, nil, format, &options), of: "avformat_open_input")
        return unsafe Demuxer(
            adopting: try LibAVError.allocated(opened, operation: "avformat_open_input"), input: input,
            appliesEdits: appliesEdits)
    }

    /// Offset at which packets end; nil to read to the end of the file.
    ///
    /// libav returns the tags after the last frame of an MP3 as packets.
    package var packetsEnd: Int64?

    package var metadata: [String: String] { unsafe dictionary(context.pointee.metadata) }

    /// Start of the earliest stream in seconds; nil if unknown.
    package var startTime: Double? {
        unsafe context.pointee.start_time.timestamp.map { (Double($0) / Double(AV_TIME_BASE)).mediaSeconds }
    }

    /// Duration in seconds from the headers; nil if libav estimated it from bit rates or from the last packets.
    package var declaredDuration: Double? {
        guard unsafe context.pointee.duration_estimation_method == AVFMT_DURATION_FROM_STREAM else { return nil }
        return unsafe context.pointee.duration.timestamp.map { (Double($0) / Double(AV_TIME_BASE)).mediaSeconds }
    }

    /// Duration in seconds from the header or estimated by libav; nil if unknown. Not reliable.
    package var expectedDuration: Double? {
        unsafe context.pointee.duration.timestamp.map { (Double($0) / Double(AV_TIME_BASE)).mediaSeconds }
    }

    package var fileBytes: Int64 { input.size }

    /// The streams found so far; more can appear while packets are read.
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

    /// Reads and decodes packets until codecs and rates are known; frames over `pixelsMax` are not decoded.
    ///
    /// - Parameter bytesMax: Maximum number of packet bytes to read; nil uses libav's default.
    package func findStreamInformation(pixelsMax: Int, bytesMax: Int? = nil) throws(LibAVError) {
        if let bytesMax { unsafe context.pointee.probesize = Int64(clamping: bytesMax) }
        let count = Int(clamping: unsafe context.pointee.nb_streams)
        var options = unsafe [OpaquePointer?](repeating: nil, count: count)
        defer { for index in 0..<count { unsafe av_dict_free(&options[index]) } }
        for index in 0..<count {
            unsafe try LibAVError.check(
                av_dict_set_int(&options[index], "max_pixels", Int64(clamping: pixelsMax), 0), of: "av_dict_set")
            // These frames are never shown, and libav decodes seven of them for H.264 without reordering.
            unsafe try LibAVError.check(
                av_dict_set(&options[index], "skip_loop_filter", "all", 0), of: "av_dict_set")
        }
        let code = unsafe options.withUnsafeMutableBufferPointer {
            unsafe avformat_find_stream_info(context, $0.baseAddress)
        }
        try LibAVError.check(code, of: "avformat_find_stream_info")
    }

    /// The description of a stream with what its decoder found in the data: pixel format, profile, color, channels.
    ///
    /// - Parameter decoder: Has decoded a frame of the stream.
    package func stream(_ index: Int, decodedBy decoder: Decoder) throws(LibAVError) -> StreamDescription? {
        guard decoder.hasDecoded, let stream = unsafe stream(index) else { return nil }
        unsafe try LibAVError.check(
            avcodec_parameters_from_context(stream.pointee.codecpar, decoder.context),
            of: "avcodec_parameters_from_context")
        return unsafe StreamDescription(stream, of: context)
    }

    /// Skips the packets of all other streams.
    package func discardStreams(except wanted: Set<Int>) {
        for index in 0..<streamCount {
            guard let stream = unsafe stream(index) else { continue }
            unsafe stream.pointee.discard = wanted.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    /// Reads the next packet; returns false at the end of the file.
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
            try LibAVError.check(code, of: "av_read_frame")
            if let packetsEnd, unsafe packet.raw.pointee.pos >= packetsEnd {
                packet.clear()
                return false
            }
            return true
        }
    }

    /// Seeks to the keyframe at or before a tick of the stream; returns false if the container does not support it.
    package func seek(stream index: Int, backwardTo tick: Int64) throws(LibAVError) -> Bool {
        let code = unsafe av_seek_frame(context, CInt(clamping: index), tick, AVSEEK_FLAG_BACKWARD)
        if code == CLibAV_errorExit { throw LibAVError(code: code, operation: "av_seek_frame") }
        return code >= 0
    }

    /// Encoded bytes of the embedded cover image; nil if there is none or it is larger than `bytesMax`.
    package func attachedPicture(stream index: Int, bytesMax: Int) -> [UInt8]? {
        guard let stream = unsafe stream(index), unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0,
            let data = unsafe stream.pointee.attached_pic.data
        else { return nil }
        let count = Int(clamping: unsafe stream.pointee.attached_pic.size)
        guard (1...bytesMax).contains(count) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: data, count: count))
    }
}

/// Rejects every external reference: data references, lists of files, image sequences.
@c private func rejectOpen(
    _ context: UnsafeMutablePointer<AVFormatContext>?,
    opened: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
    address: UnsafePointer<CChar>?, flags: CInt, options: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    CLibAV_errorNotPermitted
}

/// Values from the container's own index.
extension Demuxer {
    /// End offset in bytes of the last sample in the file, from the container's index; nil without an index.
    package func indexedEnd(stream index: Int) -> Int64? {
        guard let stream = unsafe stream(index) else { return nil }
        let count = unsafe avformat_index_get_entries_count(stream)
        var end: Int64?
        for position in 0..<max(0, count) {
            guard let entry = unsafe avformat_index_get_entry(stream, position) else { break }
            let last = unsafe entry.pointee.pos.adding(clamping: Int64(clamping: entry.pointee.size))
            end = max(end ?? 0, last)
        }
        return end
    }

    /// Decoding time of a sample in the container's index, in ticks of the stream, counted from the last one; nil when
    /// the index does not have that many.
    package func indexedTick(stream index: Int, fromEnd count: Int) -> Int64? {
        guard let stream = unsafe stream(index) else { return nil }
        let entries = Int(clamping: unsafe avformat_index_get_entries_count(stream))
        guard (1...max(1, entries)).contains(count) else { return nil }
        // Bounded: a position in the index.
        return unsafe avformat_index_get_entry(stream, CInt(clamping: entries - count))?.pointee.timestamp
    }

    /// Number of non-empty samples of a stream in the container's index.
    package func indexedSamples(stream index: Int) -> Int {
        guard let stream = unsafe stream(index) else { return 0 }
        return (0..<max(0, unsafe avformat_index_get_entries_count(stream))).count { position in
            unsafe (avformat_index_get_entry(stream, position)?.pointee.size ?? 0) > 0
        }
    }
}
