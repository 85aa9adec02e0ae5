import CLibAV

/// What is asked of an AAC encoder.
package struct AudioEncoderSettings: Sendable, Hashable {
    /// Bits a second.
    package var bitRate: Int
    /// 1 or 2.
    package var channels: Int
    /// Samples a second; one of `Encoder.audioSampleRates`.
    package var sampleRate: Int
    /// Whether the coder searches less: half the time, for a little more noise.
    package var isQuick: Bool

    package init(bitRate: Int, channels: Int, sampleRate: Int, isQuick: Bool = false) {
        self.bitRate = bitRate
        self.channels = channels
        self.sampleRate = sampleRate
        self.isQuick = isQuick
    }
}

extension Encoder {
    /// Rates AAC has, samples a second, highest first.
    package static let audioSampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// A started AAC encoder. Times of its packets are samples, and begin before 0 by what it needs to get going.
    package static func audio(_ settings: AudioEncoderSettings) throws(LibAVError) -> Encoder {
        let encoder = try make("aac")
        unsafe encoder.context.pointee.bit_rate = Int64(clamping: settings.bitRate)
        unsafe encoder.context.pointee.sample_rate = CInt(clamping: settings.sampleRate)
        unsafe encoder.context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        unsafe encoder.context.pointee.time_base = AVRational(num: 1, den: CInt(clamping: settings.sampleRate))
        unsafe av_channel_layout_default(&encoder.context.pointee.ch_layout, CInt(clamping: settings.channels))
        try encoder.start(options: settings.isQuick ? ["aac_coder": "fast"] : [:])
        return encoder
    }

    /// Encodes float samples that begin at a tick, or nil for the end.
    ///
    /// - Returns: The packets that came of it, in order.
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
