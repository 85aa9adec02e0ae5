import CLibAV

/// Float samples that wait for an encoder, which takes them in frames of its own length; owns its AVAudioFifo.
@safe package final class SampleQueue {
    /// Samples there is room for at first; it grows.
    private static let roomAtFirst: CInt = 8_192

    private let fifo: OpaquePointer
    private let channels: Int
    private let sampleRate: Int

    package init(channels: Int, sampleRate: Int) throws(LibAVError) {
        unsafe fifo = unsafe try LibAVError.allocated(
            av_audio_fifo_alloc(AV_SAMPLE_FMT_FLTP, CInt(clamping: channels), Self.roomAtFirst), "av_audio_fifo_alloc")
        self.channels = channels
        self.sampleRate = sampleRate
    }

    deinit { unsafe av_audio_fifo_free(fifo) }

    /// Samples of each channel that wait.
    package var count: Int { Int(clamping: unsafe av_audio_fifo_size(fifo)) }

    /// Takes all samples of a frame.
    package func append(_ frame: Frame) throws(LibAVError) {
        precondition(frame.channels == channels, "one queue holds one layout")
        unsafe try frame.raw.pointee.extended_data.withMemoryRebound(
            to: UnsafeMutableRawPointer?.self, capacity: channels
        ) { planes throws(LibAVError) in
            _ = unsafe try LibAVError.check(
                av_audio_fifo_write(fifo, planes, CInt(clamping: frame.sampleCount)), "av_audio_fifo_write")
        }
    }

    /// Takes so many samples of silence.
    package func appendSilence(_ count: Int) throws(LibAVError) {
        if count <= 0 { return }
        let silence = try Frame.floats(count: count, channels: channels, sampleRate: sampleRate)
        unsafe try LibAVError.check(
            av_samples_set_silence(
                silence.raw.pointee.extended_data, 0, CInt(clamping: count), CInt(clamping: channels),
                AV_SAMPLE_FMT_FLTP),
            "av_samples_set_silence")
        try append(silence)
    }

    /// The oldest samples, so many of them.
    package func take(_ count: Int) throws(LibAVError) -> Frame {
        precondition(count > 0 && count <= self.count, "so many wait")
        let frame = try Frame.floats(count: count, channels: channels, sampleRate: sampleRate)
        unsafe try frame.raw.pointee.extended_data.withMemoryRebound(
            to: UnsafeMutableRawPointer?.self, capacity: channels
        ) { planes throws(LibAVError) in
            _ = unsafe try LibAVError.check(
                av_audio_fifo_read(fifo, planes, CInt(clamping: count)), "av_audio_fifo_read")
        }
        return frame
    }
}
