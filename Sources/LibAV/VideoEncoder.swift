import CLibAV
import SafeArithmetic

/// What is asked of an H.264 encoder.
package struct VideoEncoderSettings: Sendable, Hashable {
    /// x264's own names, from the quickest to the most careful.
    package enum Preset: Int, Sendable, Hashable, CaseIterable, Comparable {
        case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower

        package static func < (one: Preset, other: Preset) -> Bool { one.rawValue < other.rawValue }
    }

    /// Ticks of a second in which frames are timed: every usual frame rate divides it, NTSC's too.
    package static let ticksPerSecond: Int32 = 120_000
    /// Bytes of pictures the encoder may hold to look ahead.
    private static let lookaheadBytesMax = 160_000_000
    /// Pictures after which a keyframe comes at the latest, in seconds: seeking and thumbnails need them.
    private static let keyframeSecondsMax = 2.0

    /// Pixels; even.
    package var width: Int
    package var height: Int
    /// Frames a second, about: for the distance of keyframes and the level.
    package var frameRate: Double
    package var preset: Preset

    /// As x264 chooses it, half as many again as cores, but no more than four: each holds pictures and a stack, and on
    /// a machine of many cores other media are worked on beside.
    static var threadCount: CInt { min(max(1, av_cpu_count().multiplied(clamping: 3) / 2), 4) }

    /// x264's constant rate factor: 18 is hardly told from the source, 51 the worst.
    package var quality: Double
    package var colours: VideoColours

    package init(
        width: Int, height: Int, frameRate: Double, preset: Preset, quality: Double, colours: VideoColours
    ) {
        precondition(width > 0 && height > 0 && width % 2 == 0 && height % 2 == 0, "4:2:0 has even sides")
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.preset = preset
        self.quality = quality
        self.colours = colours
    }

    var keyframeInterval: Int { max(1, Int(clamping: (frameRate * Self.keyframeSecondsMax).rounded())) }

    /// Pictures the encoder looks ahead: as the preset has it, less where they are large.
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
        // A picture and its half-size copies.
        let bytes = width.multiplied(clamping: height).multiplied(clamping: 5) / 2
        // Bounded: both sides are positive, as `init` wants them.
        return min(usual, max(5, Self.lookaheadBytesMax / bytes))
    }
}

extension Encoder {
    /// A started H.264 encoder of 8-bit 4:2:0 pictures in limited range.
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
        unsafe context.pointee.colorspace = AVColorSpace(UInt32(clamping: settings.colours.matrix))
        unsafe context.pointee.color_primaries = AVColorPrimaries(UInt32(clamping: settings.colours.primaries))
        unsafe context.pointee.color_trc = AVColorTransferCharacteristic(UInt32(clamping: settings.colours.transfer))
        unsafe context.pointee.color_range = AVCOL_RANGE_MPEG
        unsafe context.pointee.thread_count = VideoEncoderSettings.threadCount
        var options = ["preset": "\(settings.preset)", "profile": "high", "crf": "\(settings.quality)"]
        if let lookahead = settings.lookahead { options["rc-lookahead"] = "\(lookahead)" }
        try encoder.start(options: options)
        return encoder
    }

    /// Changes the rate factor from the next picture on.
    package func setVideoQuality(_ quality: Double) throws(LibAVError) {
        unsafe try LibAVError.check(
            av_opt_set_double(context.pointee.priv_data, "crf", quality, 0), "av_opt_set_double")
    }
}
