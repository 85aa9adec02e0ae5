/// What of libav's 350 demuxers, 490 decoders, 180 encoders and 180 muxers may ever be used; nothing else is reachable.
///
/// No playlist, no demuxer that opens a second file, no hardware, no filter: a playlist inside an AVI is a known way
/// to read files and to reach the network (neex/ffmpeg-avi-m3u-xbin). Each name is needed by a file of the tests, but
/// for `unsampled`; libav's parsers cannot be named, they follow the codec.
package enum AllowList {
    /// By the demuxer's full name, as `format_whitelist` compares it.
    package static let demuxers: Set<String> = [
        // "mpegvideo" is a bare MPEG-1 or MPEG-2 stream, "mpeg" a program stream.
        "mov,mp4,m4a,3gp,3g2,mj2", "avi", "mpeg", "mpegvideo", "mpegts", "matroska,webm", "flv", "asf", "ogg",
        "aac", "ac3", "eac3", "flac", "amr", "au", "caf", "aiff", "wav", "mp3", "wv", "tta", "w64",
    ]

    /// By the decoder's name: of several for a codec, the one libav prefers.
    package static let decoders: Set<String> = pictures.union(sounds)

    /// Decoders of which no encoder is free to make a sample: what Windows and Flash wrote for ten years.
    package static let unsampled: Set<String> = ["wmv3", "vc1", "wmapro", "vp6f"]

    /// By the encoder's name: what movies and sounds are written with.
    package static let encoders: Set<String> = ["libx264", "aac"]

    /// By the muxer's name: a movie, and a sound, whose brand is another one.
    package static let muxers: Set<String> = ["mp4", "ipod"]

    /// None, not even `file`: media come and go through descriptors.
    package static let protocols: Set<String> = []

    static let demuxerList = demuxers.sorted().joined(separator: ",")
    static let decoderList = decoders.sorted().joined(separator: ",")
    /// Of no protocol's name; libav takes an empty list for no list.
    static let protocolList = protocols.isEmpty ? "none" : protocols.sorted().joined(separator: ",")

    private static let pictures: Set<String> = [
        // Phones, cameras and the web; H.263 is 3GP's, "flv" Flash's kind of it.
        "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "h263", "mjpeg", "vp8", "vp9", "libdav1d", "theora",
        "flv", "vp6f",
        // Windows, and DivX 3, which is a "msmpeg4".
        "wmv1", "wmv2", "wmv3", "vc1", "msmpeg4v2", "msmpeg4",
        // Cameras' and editors' files, screen recordings, archives.
        "prores", "dnxhd", "dvvideo", "qtrle", "png", "rawvideo", "ffv1",
        // For BMP files, whose pictures libvips cannot read.
        "bmp",
    ]

    private static let sounds: Set<String> = [
        // "aac_latm" is what broadcasts carry.
        "aac", "aac_latm", "alac", "mp3float", "mp2", "ac3", "eac3", "dca", "flac", "vorbis", "opus", "speex",
        "amrnb", "amrwb", "wavpack", "tta", "wmav1", "wmav2", "wmapro",
        // WAV as telephones and old Windows write it.
        "gsm_ms", "adpcm_ima_wav", "adpcm_ms",
        "pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le",
        "pcm_f32be", "pcm_alaw", "pcm_mulaw",
    ]
}
