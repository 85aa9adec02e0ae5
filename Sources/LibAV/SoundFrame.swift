import CLibAV

extension Frame {
    /// Samples of each channel; 0 for a picture.
    package var sampleCount: Int { max(0, Int(clamping: unsafe raw.pointee.nb_samples)) }
    /// Samples a second.
    package var sampleRate: Int { Int(clamping: unsafe raw.pointee.sample_rate) }
    package var channels: Int { max(0, Int(clamping: unsafe raw.pointee.ch_layout.nb_channels)) }

    /// Room for float samples, a plane a channel; one or two channels.
    static func floats(count: Int, channels: Int, sampleRate: Int) throws(LibAVError) -> Frame {
        let frame = try Frame()
        unsafe frame.raw.pointee.nb_samples = CInt(clamping: count)
        unsafe frame.raw.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        unsafe frame.raw.pointee.sample_rate = CInt(clamping: sampleRate)
        unsafe av_channel_layout_default(&frame.raw.pointee.ch_layout, CInt(clamping: channels))
        unsafe try LibAVError.check(av_frame_get_buffer(frame.raw, 0), "av_frame_get_buffer")
        return frame
    }

    /// Leaves the first samples out.
    package func dropFirst(_ count: Int) throws(LibAVError) {
        precondition((0..<sampleCount).contains(count), "something of the frame is left")
        unsafe try LibAVError.check(av_frame_make_writable(raw), "av_frame_make_writable")
        let format = AVSampleFormat(unsafe raw.pointee.format)
        // Bounded: `count` is below `sampleCount`, as was asked for above.
        let rest = CInt(clamping: sampleCount - count)
        // The areas overlap; libav moves them then.
        unsafe try LibAVError.check(
            av_samples_copy(
                raw.pointee.extended_data, raw.pointee.extended_data, 0, CInt(clamping: count), rest,
                CInt(clamping: channels), format), "av_samples_copy")
        unsafe raw.pointee.nb_samples = rest
    }

    /// Makes each float sample as loud as `gain` says for its place in the frame.
    package func scaleFloats(_ gain: (Int) -> Float) throws(LibAVError) {
        unsafe try eachPlane { samples in
            // Bounded: floating point.
            for index in samples.indices { unsafe samples[index] *= gain(index) }
        }
    }

    /// Brings float samples into a range around 0; what is no number becomes silence.
    package func limitFloats(to peak: Float) throws(LibAVError) {
        unsafe try eachPlane { samples in
            for index in samples.indices {
                let sample = unsafe samples[index]
                if abs(sample) <= peak { continue }
                unsafe samples[index] = sample.isNaN ? 0 : sample < 0 ? -peak : peak
            }
        }
    }

    private func eachPlane(_ body: (UnsafeMutableBufferPointer<Float>) -> Void) throws(LibAVError) {
        precondition(unsafe raw.pointee.format == AV_SAMPLE_FMT_FLTP.rawValue, "float samples, a plane a channel")
        unsafe try LibAVError.check(av_frame_make_writable(raw), "av_frame_make_writable")
        for channel in 0..<channels {
            guard let plane = unsafe raw.pointee.extended_data[channel] else { continue }
            unsafe plane.withMemoryRebound(to: Float.self, capacity: sampleCount) { samples in
                unsafe body(UnsafeMutableBufferPointer(start: samples, count: sampleCount))
            }
        }
    }

    /// Samples as C functions take them that read.
    var readablePlanes: UnsafeMutablePointer<UnsafePointer<UInt8>?>? {
        unsafe UnsafeMutableRawPointer(raw.pointee.extended_data)?.assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
    }
}
