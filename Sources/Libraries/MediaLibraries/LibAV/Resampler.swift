import CLibAV

/// Converts decoded samples of any layout to floats of another rate in one or two channels; owns its SwrContext.
@safe package final class Resampler {
    /// Accepted source rates in hertz: the upper limit prevents filters of gigabytes.
    private static let sourceRates = 1_000...768_000
    /// Maximum gain of a downmix. All channels of 5.1 at full scale add up to 2.4; normalizing to that would make most
    /// films too quiet.
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

    /// Opens a resampler for frames with the format of `frame`.
    ///
    /// - Parameters:
    ///   - channels: 1 or 2.
    ///   - sampleRate: Output rate in hertz.
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
            of: "swr_alloc_set_opts2")
        let resampler = unsafe Resampler(
            adopting: try LibAVError.allocated(opened, operation: "swr_alloc_set_opts2"),
            source: try frame.withoutSamples(),
            channels: channels, sampleRate: sampleRate)
        try resampler.start(isMixing: frame.channels > 2)
        return resampler
    }

    private func start(isMixing: Bool) throws(LibAVError) {
        // swresample does not normalize a mix to float unless this option is set.
        let sum = isMixing ? Self.mixSumMax : 1
        unsafe try LibAVError.check(
            av_opt_set_double(UnsafeMutableRawPointer(context), "rematrix_maxval", sum, 0), of: "av_opt_set_double")
        unsafe try LibAVError.check(swr_init(context), of: "swr_init")
    }

    /// The frame's channel layout; if it has none or one that cannot be mixed, the default layout of its channel count.
    private static func layout(of frame: Frame, into layout: inout AVChannelLayout) throws(LibAVError) {
        if unsafe frame.raw.pointee.ch_layout.order == AV_CHANNEL_ORDER_NATIVE {
            unsafe try LibAVError.check(
                av_channel_layout_copy(&layout, &frame.raw.pointee.ch_layout), of: "av_channel_layout_copy")
            return
        }
        unsafe av_channel_layout_default(&layout, CInt(clamping: frame.channels))
        if unsafe layout.order == AV_CHANNEL_ORDER_NATIVE { return }
        let mask = frame.channels < 18 ? UInt64(1) << UInt64(clamping: frame.channels) - 1 : 0
        unsafe try LibAVError.check(av_channel_layout_from_mask(&layout, mask), of: "av_channel_layout_from_mask")
    }

    /// Whether a frame has the format that the resampler was opened for.
    package func takes(_ frame: Frame) -> Bool {
        unsafe frame.sampleRate == source.sampleRate && frame.raw.pointee.format == source.raw.pointee.format
            && av_channel_layout_compare(&frame.raw.pointee.ch_layout, &source.raw.pointee.ch_layout) == 0
    }

    /// Converts a frame, or drains the resampler for nil; returns nil if no samples come out.
    package func convert(_ frame: Frame?) throws(LibAVError) -> Frame? {
        let count = frame?.sampleCount ?? 0
        let capacity = unsafe try LibAVError.check(
            swr_get_out_samples(context, CInt(clamping: count)), of: "swr_get_out_samples")
        if capacity == 0 { return nil }
        let output = try Frame.floats(count: Int(clamping: capacity), channels: channels, sampleRate: sampleRate)
        let filled = unsafe try LibAVError.check(
            swr_convert(
                context, output.raw.pointee.extended_data, capacity, frame?.readablePlanes, CInt(clamping: count)),
            of: "swr_convert")
        unsafe output.raw.pointee.nb_samples = filled
        return filled > 0 ? output : nil
    }
}

extension Frame {
    /// An empty frame with the rate, format and layout of this one.
    fileprivate func withoutSamples() throws(LibAVError) -> Frame {
        let frame = try Frame()
        unsafe frame.raw.pointee.format = unsafe raw.pointee.format
        unsafe frame.raw.pointee.sample_rate = unsafe raw.pointee.sample_rate
        unsafe try LibAVError.check(
            av_channel_layout_copy(&frame.raw.pointee.ch_layout, &raw.pointee.ch_layout), of: "av_channel_layout_copy")
        return frame
    }
}

/// A queue of float samples for an encoder with a fixed frame length; owns its AVAudioFifo.
@safe package final class SampleQueue {
    /// Initial capacity in samples; the queue grows.
    private static let initialCapacity: CInt = 8_192

    private let fifo: OpaquePointer
    private let channels: Int
    private let sampleRate: Int

    package init(channels: Int, sampleRate: Int) throws(LibAVError) {
        unsafe fifo = unsafe try LibAVError.allocated(
            av_audio_fifo_alloc(AV_SAMPLE_FMT_FLTP, CInt(clamping: channels), Self.initialCapacity),
            operation: "av_audio_fifo_alloc")
        self.channels = channels
        self.sampleRate = sampleRate
    }

    deinit { unsafe av_audio_fifo_free(fifo) }

    /// Queued samples per channel.
    package var count: Int { Int(clamping: unsafe av_audio_fifo_size(fifo)) }

    /// Appends all samples of a frame.
    package func append(_ frame: Frame) throws(LibAVError) {
        precondition(frame.channels == channels, "one queue holds one layout")
        unsafe try frame.raw.pointee.extended_data.withMemoryRebound(
            to: UnsafeMutableRawPointer?.self, capacity: channels
        ) { planes throws(LibAVError) in
            _ = unsafe try LibAVError.check(
                av_audio_fifo_write(fifo, planes, CInt(clamping: frame.sampleCount)), of: "av_audio_fifo_write")
        }
    }

    /// Appends `count` samples of silence.
    package func appendSilence(_ count: Int) throws(LibAVError) {
        if count <= 0 { return }
        let silence = try Frame.floats(count: count, channels: channels, sampleRate: sampleRate)
        unsafe try LibAVError.check(
            av_samples_set_silence(
                silence.raw.pointee.extended_data, 0, CInt(clamping: count), CInt(clamping: channels),
                AV_SAMPLE_FMT_FLTP),
            of: "av_samples_set_silence")
        try append(silence)
    }

    /// Removes and returns the oldest `count` samples.
    package func dequeue(_ count: Int) throws(LibAVError) -> Frame {
        precondition(count > 0 && count <= self.count, "so many wait")
        let frame = try Frame.floats(count: count, channels: channels, sampleRate: sampleRate)
        unsafe try frame.raw.pointee.extended_data.withMemoryRebound(
            to: UnsafeMutableRawPointer?.self, capacity: channels
        ) { planes throws(LibAVError) in
            _ = unsafe try LibAVError.check(
                av_audio_fifo_read(fifo, planes, CInt(clamping: count)), of: "av_audio_fifo_read")
        }
        return frame
    }
}
