import CLibAV

/// Properties of one stream, from the container and from libav's probing.
package struct StreamDescription: Sendable {
    package enum Kind: Sendable { case video, audio, other }

    package enum TransferFunction: Sendable { case standard, perceptualQuantizer, hybridLogGamma }

    package let index: Int
    package let kind: Kind
    /// libavcodec's codec name.
    package let codec: String
    /// The container's four-character code; empty if there is none or it is not printable.
    package let codecTag: String
    package let profile: String?
    /// Whether an allowed decoder is available.
    package let isDecodable: Bool
    /// Whether the stream is a cover image, not a movie.
    package let isAttachedPicture: Bool
    /// In MP4 and QuickTime whether the track is enabled; in other containers whether it is flagged as the default.
    package let isDefault: Bool
    package let timeBase: TimeBase
    /// Duration in ticks of the time base, from the header; nil if it has none.
    package let declaredDuration: Int64?
    /// Frames between a packet and its decoded frame, caused by reordering.
    package let reorderDelay: Int
    package let bitRate: Int?
    package let metadata: [String: String]
    /// Decoder configuration, such as the contents of `avcC`; empty if there is none.
    package let configuration: [UInt8]

    // Video streams; size in pixels as stored.
    package let width: Int
    package let height: Int
    package let pixelFormat: PixelFormat?
    /// Pixel width divided by pixel height; nil if not declared.
    package let sampleAspectRatio: Double?
    /// Average frames per second.
    package let frameRate: Double?
    /// Nine fixed-point numbers, 16.16 and 2.30, as in a `tkhd` box.
    package let displayMatrix: [Int32]?
    package let transfer: TransferFunction
    package let hasDolbyVision: Bool

    // Audio streams.
    package let channels: Int
    package let sampleRate: Int

    init(_ stream: UnsafeMutablePointer<AVStream>, of context: UnsafeMutablePointer<AVFormatContext>) {
        let parameters = unsafe stream.pointee.codecpar.pointee
        index = Int(clamping: unsafe stream.pointee.index)
        kind = unsafe Self.kind(parameters.codec_type)
        codec = unsafe String(cString: avcodec_get_name(parameters.codec_id))
        codecTag = unsafe Self.fourCharacters(parameters.codec_tag)
        profile = unsafe avcodec_profile_name(parameters.codec_id, parameters.profile).map {
            unsafe String(cString: $0)
        }
        isDecodable = unsafe LibAV.decoder(parameters.codec_id) != nil
        isAttachedPicture = unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
        isDefault = unsafe stream.pointee.disposition & AV_DISPOSITION_DEFAULT != 0
        timeBase = TimeBase(unsafe stream.pointee.time_base)
        declaredDuration = unsafe stream.pointee.duration.timestamp.flatMap { $0 > 0 ? $0 : nil }
        reorderDelay = Int(clamping: unsafe parameters.video_delay)
        bitRate = unsafe (1...Self.bitRateMax).contains(parameters.bit_rate) ? Int(clamping: parameters.bit_rate) : nil
        metadata = unsafe dictionary(stream.pointee.metadata)
        configuration = unsafe Array(
            UnsafeBufferPointer(
                start: parameters.extradata, count: max(0, Int(clamping: parameters.extradata_size))))
        width = max(0, Int(clamping: unsafe parameters.width))
        height = max(0, Int(clamping: unsafe parameters.height))
        pixelFormat = kind == .video ? PixelFormat(AVPixelFormat(unsafe parameters.format)) : nil
        sampleAspectRatio = unsafe av_guess_sample_aspect_ratio(context, stream, nil).positive
        let rate = unsafe stream.pointee.avg_frame_rate.positive ?? stream.pointee.r_frame_rate.positive
        frameRate = rate.flatMap { $0 <= Self.frameRateMax ? $0 : nil }
        displayMatrix = unsafe Self.displayMatrix(stream)
        transfer = unsafe Self.transfer(parameters.color_trc)
        hasDolbyVision = unsafe av_stream_get_side_data(stream, AV_PKT_DATA_DOVI_CONF, nil) != nil
        channels = Int(clamping: unsafe parameters.ch_layout.nb_channels)
        sampleRate = Int(clamping: unsafe parameters.sample_rate)
    }

    /// Maximum plausible bit rate (bits per second) and frame rate; larger declared values are ignored.
    private static let bitRateMax: Int64 = 1_000_000_000
    private static let frameRateMax = 1_000_000.0

    private static func kind(_ type: AVMediaType) -> Kind {
        switch type {
        case AVMEDIA_TYPE_VIDEO: .video
        case AVMEDIA_TYPE_AUDIO: .audio
        default: .other
        }
    }

    static func transfer(_ characteristic: AVColorTransferCharacteristic) -> TransferFunction {
        switch characteristic {
        case AVCOL_TRC_SMPTE2084: .perceptualQuantizer
        case AVCOL_TRC_ARIB_STD_B67: .hybridLogGamma
        default: .standard
        }
    }

    private static func fourCharacters(_ tag: UInt32) -> String {
        // Bounded: four characters.
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: tag >> ($0 * 8)) }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return "" }
        return String(decoding: bytes, as: Unicode.ASCII.self)
    }

    private static func displayMatrix(_ stream: UnsafeMutablePointer<AVStream>) -> [Int32]? {
        var size = 0
        guard let data = unsafe av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 else {
            return nil
        }
        // Bounded: nine numbers, in `size` bytes.
        return (0..<9).map { unsafe UnsafeRawPointer(data).loadUnaligned(fromByteOffset: $0 * 4, as: Int32.self) }
    }
}

/// Keys of formats have some 20 bytes.
private let metadataKeyBytesMax = 128

/// A copy of libav's metadata; of entries with the same key, the last is kept. Keys are those of formats, in ASCII:
/// others, which a file may contain at any length, are left out, because hashing them could take quadratic time.
func dictionary(_ metadata: OpaquePointer?) -> [String: String] {
    var entries: [String: String] = [:]
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while let next = unsafe av_dict_get(metadata, "", entry, AV_DICT_IGNORE_SUFFIX) {
        unsafe entry = unsafe next
        let key = unsafe String(cString: next.pointee.key)
        guard key.utf8.count <= metadataKeyBytesMax, key.utf8.allSatisfy({ $0 < 0x80 }) else { continue }
        entries[key] = unsafe String(cString: next.pointee.value)
    }
    return entries
}
