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
        if AllowList.decoders.contains(name), unsafe avcodec_find_decoder_by_name(name) != nil { return true }
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(name) else { return false }
        return unsafe decoder(descriptor.pointee.id) != nil
    }

    /// Whether an encoder of that name (`libx264`, `aac`) is there.
    package static func canEncode(_ name: String) -> Bool {
        unsafe avcodec_find_encoder_by_name(name) != nil
    }

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
