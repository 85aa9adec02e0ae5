import CLibAV

/// Versions and available codecs of the linked libav libraries.
package enum LibAV {
    /// Maximum size of one allocation in bytes: a 16-bit RGBA frame of `Limits.moviePixelsMax` with padding.
    private static let allocationBytesMax = 400_000_000

    /// Disables logging and limits allocations, once per process: libav's log would copy file content to stderr.
    static let started: Void = {
        av_log_set_level(AV_LOG_QUIET)
        av_max_alloc(allocationBytesMax)
    }()

    /// Name and version of each library, for `attachprep doctor`.
    package static var versions: [(name: String, version: String)] {
        [
            ("libavformat", text(avformat_version())), ("libavcodec", text(avcodec_version())),
            ("libavutil", text(avutil_version())), ("libswscale", text(swscale_version())),
            ("libswresample", text(swresample_version())),
        ]
    }

    /// Whether a decoder of that name, or one for the codec of that name, is available and allowed.
    package static func canDecode(_ name: String) -> Bool {
        if AllowList.decoders.contains(name), has(.decoder, name: name) { return true }
        return decoderName(codec: name) != nil
    }

    /// Whether an encoder of that name (`libx264`, `aac`) is available and allowed.
    package static func canEncode(_ name: String) -> Bool {
        unsafe AllowList.encoders.contains(name) && avcodec_find_encoder_by_name(name) != nil
    }

    /// Name of the decoder used for a codec; nil if there is none or it is not allowed.
    package static func decoderName(codec name: String) -> String? {
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(name),
            let found = unsafe decoder(descriptor.pointee.id)
        else { return nil }
        return unsafe String(cString: found.pointee.name)
    }

    /// Whether libav itself has a demuxer, decoder, encoder or muxer of that name, allowed or not.
    package static func has(_ kind: ComponentKind, name: String) -> Bool {
        switch kind {
        case .demuxer: unsafe av_find_input_format(name) != nil
        case .decoder: unsafe avcodec_find_decoder_by_name(name) != nil
        case .encoder: unsafe avcodec_find_encoder_by_name(name) != nil
        case .muxer: unsafe av_guess_format(name, nil, nil) != nil
        }
    }

    /// Kinds of libav components.
    package enum ComponentKind: Sendable, Hashable { case demuxer, decoder, encoder, muxer }

    /// The decoder that libav prefers for a codec, if it is allowed.
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

/// A failed libav call: its error code and the C function. For the log only; callers derive the meaning from which
/// call failed.
package struct LibAVError: Error, Hashable, CustomStringConvertible {
    /// libav's negative error code.
    package let code: CInt
    /// The C function that returned it.
    package let operation: String

    package init(code: CInt, operation: String) {
        self.code = code
        self.operation = operation
    }

    /// Whether the deadline passed inside a read or an interrupt callback.
    package var isDeadline: Bool { code == CLibAV_errorExit }
    /// Whether the allocation limit or the machine's memory is exhausted.
    package var isOutOfMemory: Bool { code == CLibAV_errorNoMemory }

    /// libav's text for the error code.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(AV_ERROR_MAX_STRING_SIZE))
        let known = unsafe av_strerror(code, &text, text.count) == 0
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "\(operation): \(known ? String(decoding: bytes, as: UTF8.self) : "unknown") (\(code))"
    }

    /// Returns a libav result, or throws if it is negative.
    @discardableResult
    static func check(_ code: CInt, of operation: StaticString) throws(LibAVError) -> CInt {
        if code < 0 { throw LibAVError(code: code, operation: "\(operation)") }
        return code
    }

    /// Returns an allocated pointer, or throws if it is nil.
    static func allocated<Pointer>(_ pointer: Pointer?, operation: StaticString) throws(LibAVError) -> Pointer {
        guard let pointer else { throw LibAVError(code: CLibAV_errorNoMemory, operation: "\(operation)") }
        return pointer
    }
}
