/// The demuxers, decoders, encoders, muxers and protocols that may be used, of libav's 350 demuxers, 490 decoders,
/// 180 encoders and 180 muxers.
///
/// Demuxers that open a second file, hardware codecs and filters are excluded: a list of files inside an AVI is a
/// known way to read files and to reach the network (neex/ffmpeg-avi-m3u-xbin). Each name is needed by a test file.
/// libav's parsers cannot be listed; they are selected by codec.
package enum AllowList {
    /// Full demuxer names, as `format_whitelist` compares them.
    package static let demuxers: Set<String> = [
        // "mpegvideo" is an MPEG-1 or MPEG-2 elementary stream, "mpeg" a program stream.
        "mov,mp4,m4a,3gp,3g2,mj2", "avi", "mpeg", "mpegvideo", "mpegts", "matroska,webm", "flv", "asf", "ogg",
        "aac", "ac3", "eac3", "flac", "amr", "au", "caf", "aiff", "wav", "mp3", "wv", "tta", "w64",
    ]

    /// Decoder names: where a codec has several decoders, the one that libav prefers.
    package static let decoders: Set<String> = videoDecoders.union(audioDecoders)

    /// Encoder names: H.264 for video, AAC and MP3 for audio.
    package static let encoders: Set<String> = ["libx264", "aac", "libmp3lame"]

    /// Muxer names: `mp4` for movies, `ipod` (brand `M4A `) and `mp3` for audio files.
    package static let muxers: Set<String> = ["mp4", "ipod", "mp3"]

    /// Empty, without even `file`: media is read and written through descriptors only.
    package static let protocols: Set<String> = []

    static let demuxerList = demuxers.sorted().joined(separator: ",")
    static let decoderList = decoders.sorted().joined(separator: ",")
    /// A name that no protocol has: libav treats an empty list as "no restriction".
    static let protocolList = protocols.isEmpty ? "none" : protocols.sorted().joined(separator: ",")

    private static let videoDecoders: Set<String> = [
        // Phones, cameras and the web; H.263 is used in 3GP, "flv" is Flash's variant of it.
        "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "h263", "mjpeg", "vp8", "vp9", "libdav1d", "theora",
        "flv",
        // Windows Media, and DivX 3, which is decoded by "msmpeg4".
        "wmv1", "wmv2", "msmpeg4",
        // Camera and editing formats, screen recordings, archives.
        "prores", "dnxhd", "dvvideo", "qtrle", "png", "rawvideo", "ffv1",
        // BMP files, which libvips cannot decode.
        "bmp",
    ]

    private static let audioDecoders: Set<String> = [
        // "aac_latm" is used in broadcasts.
        "aac", "aac_latm", "alac", "mp3float", "mp2", "ac3", "eac3", "dca", "flac", "vorbis", "opus", "speex",
        "amrnb", "amrwb", "wavpack", "tta", "wmav1", "wmav2",
        // WAV, AVI, MOV and FLV of telephone systems and old computers.
        "gsm_ms", "g726", "adpcm_ima_wav", "adpcm_ima_qt", "adpcm_ms", "adpcm_yamaha", "adpcm_swf",
        "pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le",
        "pcm_f32be", "pcm_f64le", "pcm_f64be", "pcm_alaw", "pcm_mulaw",
    ]
}
