import CLibAV

/// Turns decoded samples of any layout into floats of another rate and at most two channels; owns its SwrContext.
@safe package final class Resampler {
    /// Samples a second that make sense: below there is no sound, above is a lie that would cost filters of gigabytes.
    private static let sourceRates = 1_000...768_000
    /// What mixing many channels into few may add up to. All at full scale at once would be 2.4 for 5.1; taking that
    /// as the measure would make every film too soft.
    private static let mixSumMax = 2.0.squareRoot()

    private let context: OpaquePointer
    private let source: Frame
    private let channels: Int
    private let sampleRate: Int

    private init(adopting context: OpaquePointer, source: Frame, channels: Int, sampleRate: Int) {
        unsafe self.context = context
        self.source = source
        self.channels = channels
        self.sampleRate = sampleRate
    }

    deinit {
        var released: OpaquePointer? = unsafe context
        unsafe swr_free(&released)
    }

    /// Opens a resampler for frames like one.
    ///
    /// - Parameters:
    ///   - channels: 1 or 2.
    ///   - sampleRate: Samples a second that come out.
    package static func open(like frame: Frame, channels: Int, sampleRate: Int) throws(LibAVError) -> Resampler {
        precondition((1...2).contains(channels), "mono or stereo")
        guard sourceRates.contains(frame.sampleRate), frame.channels > 0 else {
            throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "resampler")
        }
        var output = unsafe AVChannelLayout()
        unsafe av_channel_layout_default(&output, CInt(clamping: channels))
        var input = unsafe AVChannelLayout()
        defer { unsafe av_channel_layout_uninit(&input) }
        unsafe try layout(of: frame, into: &input)
        var opened: OpaquePointer?
        unsafe try LibAVError.check(
            swr_alloc_set_opts2(
                &opened, &output, AV_SAMPLE_FMT_FLTP, CInt(clamping: sampleRate), &input,
                AVSampleFormat(frame.raw.pointee.format), CInt(clamping: frame.sampleRate), 0, nil),
            "swr_alloc_set_opts2")
        let resampler = unsafe Resampler(
            adopting: try LibAVError.allocated(opened, "swr_alloc_set_opts2"), source: try frame.withoutSamples(),
            channels: channels, sampleRate: sampleRate)
        try resampler.start(isMixing: frame.channels > 2)
        return resampler
    }

    private func start(isMixing: Bool) throws(LibAVError) {
        // Floats would not be scaled at all.
        let sum = isMixing ? Self.mixSumMax : 1
        unsafe try LibAVError.check(
            av_opt_set_double(UnsafeMutableRawPointer(context), "rematrix_maxval", sum, 0), "av_opt_set_double")
        unsafe try LibAVError.check(swr_init(context), "swr_init")
    }

    /// The layout a frame says it has; where it says none, or one that cannot be mixed, the usual one of its count.
    private static func layout(of frame: Frame, into layout: inout AVChannelLayout) throws(LibAVError) {
        if unsafe frame.raw.pointee.ch_layout.order == AV_CHANNEL_ORDER_NATIVE {
            unsafe try LibAVError.check(
                av_channel_layout_copy(&layout, &frame.raw.pointee.ch_layout), "av_channel_layout_copy")
            return
        }
        unsafe av_channel_layout_default(&layout, CInt(clamping: frame.channels))
        if unsafe layout.order == AV_CHANNEL_ORDER_NATIVE { return }
        // Bounded: 1 to 17 channels; a frame without any is refused by `open`.
        let mask = frame.channels < 18 ? UInt64(1) << UInt64(clamping: frame.channels) - 1 : 0
        unsafe try LibAVError.check(av_channel_layout_from_mask(&layout, mask), "av_channel_layout_from_mask")
    }

    /// Whether a frame is like the one it was opened for.
    package func takes(_ frame: Frame) -> Bool {
        unsafe frame.sampleRate == source.sampleRate && frame.raw.pointee.format == source.raw.pointee.format
            && av_channel_layout_compare(&frame.raw.pointee.ch_layout, &source.raw.pointee.ch_layout) == 0
    }

    /// What comes out for a frame, or for the end; may hold no samples.
    package func convert(_ frame: Frame?) throws(LibAVError) -> Frame? {
        let count = frame?.sampleCount ?? 0
        let room = unsafe try LibAVError.check(
            swr_get_out_samples(context, CInt(clamping: count)), "swr_get_out_samples")
        if room == 0 { return nil }
        let output = try Frame.floats(count: Int(clamping: room), channels: channels, sampleRate: sampleRate)
        let filled = unsafe try LibAVError.check(
            swr_convert(context, output.raw.pointee.extended_data, room, frame?.readablePlanes, CInt(clamping: count)),
            "swr_convert")
        unsafe output.raw.pointee.nb_samples = filled
        return filled > 0 ? output : nil
    }
}

extension Frame {
    /// A frame that knows rate, format and layout of this one.
    fileprivate func withoutSamples() throws(LibAVError) -> Frame {
        let frame = try Frame()
        unsafe frame.raw.pointee.format = unsafe raw.pointee.format
        unsafe frame.raw.pointee.sample_rate = unsafe raw.pointee.sample_rate
        unsafe try LibAVError.check(
            av_channel_layout_copy(&frame.raw.pointee.ch_layout, &raw.pointee.ch_layout), "av_channel_layout_copy")
        return frame
    }
}
