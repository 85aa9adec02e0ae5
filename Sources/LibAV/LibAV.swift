import CLibAV

/// The process's libav: what it is, what it can do.
package enum LibAV {
    /// No single allocation is larger, in bytes: a 16-bit RGBA frame of `Limits.moviePixelsMax` with its padding.
    private static let allocationBytesMax = 400_000_000

    /// Quiet and bounded, once per process: libav's log would carry text out of the file to standard error.
    static let started: Void = {
        av_log_set_level(AV_LOG_QUIET)
        av_max_alloc(allocationBytesMax)
    }()

    /// Name and version of each library, for `doctor`.
    package static var versions: [(name: String, version: String)] {
        [
            ("libavformat", text(avformat_version())), ("libavcodec", text(avcodec_version())),
            ("libavutil", text(avutil_version())), ("libswscale", text(swscale_version())),
            ("libswresample", text(swresample_version())),
        ]
    }

    /// Whether a decoder of that name, or for the codec of that name, is there and allowed.
    package static func canDecode(_ name: String) -> Bool {
        if AllowList.decoders.contains(name), has(.decoder, name) { return true }
        return decoderName(codec: name) != nil
    }

    /// Whether an encoder of that name (`libx264`, `aac`) is there and allowed.
    package static func canEncode(_ name: String) -> Bool {
        unsafe AllowList.encoders.contains(name) && avcodec_find_encoder_by_name(name) != nil
    }

    /// The name of the decoder used for the codec of that name; nil where there is none, or none that is allowed.
    package static func decoderName(codec name: String) -> String? {
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(name),
            let found = unsafe decoder(descriptor.pointee.id)
        else { return nil }
        return unsafe String(cString: found.pointee.name)
    }

    /// Whether libav itself has a demuxer, decoder, encoder or muxer of that name, allowed or not.
    package static func has(_ kind: Part, _ name: String) -> Bool {
        switch kind {
        case .demuxer: unsafe av_find_input_format(name) != nil
        case .decoder: unsafe avcodec_find_decoder_by_name(name) != nil
        case .encoder: unsafe avcodec_find_encoder_by_name(name) != nil
        case .muxer: unsafe av_guess_format(name, nil, nil) != nil
        }
    }

    /// What libav is made of.
    package enum Part: Sendable, Hashable { case demuxer, decoder, encoder, muxer }

    /// The decoder libav prefers for a codec, if we allow it.
    static func decoder(_ codec: AVCodecID) -> UnsafePointer<AVCodec>? {
        guard let found = unsafe avcodec_find_decoder(codec), let name = unsafe found.pointee.name,
            AllowList.decoders.contains(unsafe String(cString: name))
        else { return nil }
        return unsafe found
    }

    private static func text(_ version: UInt32) -> String {
        "\(version >> 16).\(version >> 8 & 0xFF).\(version & 0xFF)"
    }
}
