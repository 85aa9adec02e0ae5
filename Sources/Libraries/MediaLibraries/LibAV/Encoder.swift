import CLibAV
import SafeArithmetic

/// An audio or video encoder; owns its AVCodecContext.
///
/// `Encoder.audio` and `Encoder.video` configure the context and start it.
@safe package final class Encoder {
    /// Result of `receive`.
    package enum EncodeStatus: Sendable { case packet, needsFrame, ended }

    let context: UnsafeMutablePointer<AVCodecContext>

    private init(adopting context: UnsafeMutablePointer<AVCodecContext>) { unsafe self.context = context }

    deinit {
        var released: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        unsafe avcodec_free_context(&released)
    }

    /// Allocates an encoder by libavcodec's name (`libx264`, `aac`, `libmp3lame`) without starting it.
    static func make(_ name: String) throws(LibAVError) -> Encoder {
        LibAV.started
        guard AllowList.encoders.contains(name), let found = unsafe avcodec_find_encoder_by_name(name) else {
            throw LibAVError(code: CLibAV_errorEncoderNotFound, operation: "avcodec_find_encoder_by_name")
        }
        let encoder = unsafe Encoder(
            adopting: try LibAVError.allocated(avcodec_alloc_context3(found), operation: "avcodec_alloc_context3"))
        // MP4 stores parameter sets in its header; BITEXACT keeps version strings out of the stream.
        unsafe encoder.context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
        return encoder
    }

    /// Opens the encoder.
    ///
    /// - Parameter options: Encoder options by libavcodec's names; an unknown option is a programming error and throws.
    func start(options: [String: String] = [:]) throws(LibAVError) {
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            unsafe try LibAVError.check(
                av_opt_set(context, name, value, AV_OPT_SEARCH_CHILDREN), of: "av_opt_set")
        }
        unsafe try LibAVError.check(avcodec_open2(context, nil, nil), of: "avcodec_open2")
    }

    package var timeBase: TimeBase { TimeBase(unsafe context.pointee.time_base) }

    /// Samples per channel that every frame but the last must have; 0 if any number is accepted.
    package var frameSize: Int { Int(clamping: unsafe context.pointee.frame_size) }

    /// Sends a frame, or nil to start draining; returns false when packets have to be received first.
    package func send(_ frame: Frame?) throws(LibAVError) -> Bool {
        let code = unsafe avcodec_send_frame(context, frame?.raw)
        if code == CLibAV_errorTryAgain { return false }
        if code == CLibAV_errorEndOfFile { return true }
        try LibAVError.check(code, of: "avcodec_send_frame")
        return true
    }

    /// Receives the next packet in decoding order; its times are ticks of `timeBase`.
    package func receive(into packet: Packet) throws(LibAVError) -> EncodeStatus {
        let code = unsafe avcodec_receive_packet(context, packet.raw)
        if code == CLibAV_errorTryAgain { return .needsFrame }
        if code == CLibAV_errorEndOfFile { return .ended }
        try LibAVError.check(code, of: "avcodec_receive_packet")
        return .packet
    }
}

/// Settings of an H.264 encoder.
package struct VideoEncoderSettings: Sendable, Hashable {
    /// x264's preset names, from the fastest to the slowest.
    package enum Preset: Int, Sendable, Hashable, CaseIterable, Comparable {
        case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower

        package static func < (one: Preset, other: Preset) -> Bool { one.rawValue < other.rawValue }
    }

    /// Ticks per second of frame times; a multiple of the common frame rates, those of NTSC included.
    package static let ticksPerSecond: Int32 = 120_000
    /// Maximum size in bytes of the frames that the encoder holds for its lookahead.
    private static let lookaheadBytesMax = 160_000_000
    /// Pixels of a frame above which x264 holds as few frames as it can. For 3840 x 2160 it takes 200 MB then, and
    /// 750 MB otherwise (measured with the preset medium), which leaves too little for the decoder.
    private static let manyFramesPixelsMax = 4_000_000
    /// Maximum keyframe interval in seconds: seeking and thumbnails need keyframes.
    private static let keyframeSecondsMax = 2.0

    /// Size in pixels; even.
    package var width: Int
    package var height: Int
    /// Approximate frames per second: sets the keyframe interval and the level.
    package var frameRate: Double
    package var preset: Preset

    /// x264's default of 1.5 threads per core, at most four: each thread holds frames and a stack, and on a machine of
    /// many cores other media is processed at the same time.
    var threadCount: CInt { min(max(1, av_cpu_count().multiplied(clamping: 3) / 2), holdsFewFrames ? 2 : 4) }

    /// x264's constant rate factor: 18 is visually near the source, 51 is the worst.
    package var quality: Double
    package var colors: VideoColors

    package init(
        width: Int, height: Int, frameRate: Double, preset: Preset, quality: Double, colors: VideoColors
    ) {
        precondition(width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0, "4:2:0 has even sides")
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.preset = preset
        self.quality = quality
        self.colors = colors
    }

    var keyframeInterval: Int { max(1, Int(clamping: (frameRate * Self.keyframeSecondsMax).rounded())) }

    /// Lookahead in frames: the preset's value, reduced for large frames; nil keeps the preset's.
    var lookahead: Int? {
        let usual: Int
        switch preset {
        case .ultrafast, .superfast: return nil
        case .veryfast: usual = 10
        case .faster: usual = 20
        case .fast: usual = 30
        case .medium: usual = 40
        case .slow: usual = 50
        case .slower: usual = 60
        }
        if holdsFewFrames { return 2 }
        // A frame and its half-size copies.
        let bytes = pixels.multiplied(clamping: 5) / 2
        return min(usual, Self.lookaheadBytesMax / bytes)
    }

    private var pixels: Int { width.multiplied(clamping: height) }
    private var holdsFewFrames: Bool { pixels > Self.manyFramesPixelsMax }

    /// x264's options by its own names.
    var options: [String: String] {
        var options = ["preset": "\(preset)", "profile": "high", "crf": "\(quality)"]
        if let lookahead { options["rc-lookahead"] = "\(lookahead)" }
        if holdsFewFrames { options.merge(["bf": "0", "refs": "1", "x264-params": "sync-lookahead=0"]) { $1 } }
        return options
    }
}

extension Encoder {
    /// Opens an H.264 encoder for 8-bit 4:2:0 frames in limited range.
    package static func video(_ settings: VideoEncoderSettings) throws(LibAVError) -> Encoder {
        let encoder = try make("libx264")
        let context = unsafe encoder.context
        unsafe context.pointee.width = CInt(clamping: settings.width)
        unsafe context.pointee.height = CInt(clamping: settings.height)
        unsafe context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        unsafe context.pointee.time_base = AVRational(num: 1, den: VideoEncoderSettings.ticksPerSecond)
        unsafe context.pointee.framerate = av_d2q(max(0.1, settings.frameRate), 100_000)
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        unsafe context.pointee.gop_size = CInt(clamping: settings.keyframeInterval)
        unsafe context.pointee.colorspace = AVColorSpace(UInt32(clamping: settings.colors.matrix))
        unsafe context.pointee.color_primaries = AVColorPrimaries(UInt32(clamping: settings.colors.primaries))
        unsafe context.pointee.color_trc = AVColorTransferCharacteristic(UInt32(clamping: settings.colors.transfer))
        unsafe context.pointee.color_range = AVCOL_RANGE_MPEG
        unsafe context.pointee.thread_count = settings.threadCount
        try encoder.start(options: settings.options)
        return encoder
    }

    /// Changes the constant rate factor from the next frame on.
    package func setVideoQuality(_ quality: Double) throws(LibAVError) {
        unsafe try LibAVError.check(
            av_opt_set_double(context.pointee.priv_data, "crf", quality, 0), of: "av_opt_set_double")
    }
}

package struct AudioEncoderSettings: Sendable, Hashable {
    package enum Codec: Sendable, Hashable { case aac, mp3 }

    package var codec: Codec
    /// Bits per second; for MP3 the average.
    package var bitRate: Int
    /// 1 or 2.
    package var channels: Int
    /// Samples per second; one of `Encoder.audioSampleRates`.
    package var sampleRate: Int
    /// Whether the encoder uses its fast algorithm: half the time for slightly more noise.
    package var isQuick: Bool

    package init(_ codec: Codec = .aac, bitRate: Int, channels: Int, sampleRate: Int, isQuick: Bool = false) {
        self.codec = codec
        self.bitRate = bitRate
        self.channels = channels
        self.sampleRate = sampleRate
        self.isQuick = isQuick
    }
}

extension Encoder {
    /// Sample rates that AAC supports, in hertz, highest first. MP3 supports those from 8,000 to 48,000.
    package static let audioSampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// LAME's algorithm quality for fast encoding, from 0 (best) to 9; its default is 5.
    private static let quickMP3Quality = 7

    /// Opens an AAC or MP3 encoder. Packet times are in samples and begin before 0 by the encoder delay.
    package static func audio(_ settings: AudioEncoderSettings) throws(LibAVError) -> Encoder {
        let encoder = try make(settings.codec == .aac ? "aac" : "libmp3lame")
        unsafe encoder.context.pointee.bit_rate = Int64(clamping: settings.bitRate)
        unsafe encoder.context.pointee.sample_rate = CInt(clamping: settings.sampleRate)
        unsafe encoder.context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        unsafe encoder.context.pointee.time_base = AVRational(num: 1, den: CInt(clamping: settings.sampleRate))
        unsafe av_channel_layout_default(&encoder.context.pointee.ch_layout, CInt(clamping: settings.channels))
        switch settings.codec {
        case .aac: try encoder.start(options: settings.isQuick ? ["aac_coder": "fast"] : [:])
        case .mp3:
            // A constant rate would be rounded to one of 14, and could so exceed a size limit.
            let quality = settings.isQuick ? ["compression_level": "\(quickMP3Quality)"] : [:]
            try encoder.start(options: quality.merging(["abr": "1"]) { $1 })
        }
        return encoder
    }

    /// Encodes float samples that begin at a tick, or nil to drain.
    ///
    /// - Returns: The packets produced, in order.
    package func encode(_ samples: Frame?, at tick: Int = 0) throws(LibAVError) -> [Packet] {
        unsafe samples?.raw.pointee.pts = Int64(clamping: tick)
        guard try send(samples) else { throw LibAVError(code: CLibAV_errorTryAgain, operation: "avcodec_send_frame") }
        var packets: [Packet] = []
        while true {
            let packet = try Packet()
            guard try receive(into: packet) == .packet else { return packets }
            packets.append(packet)
        }
    }
}
