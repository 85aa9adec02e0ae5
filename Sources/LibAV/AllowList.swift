/// The demuxers, decoders, encoders, muxers and protocols that may be used, of libav's 350 demuxers, 490 decoders,
/// 180 encoders and 180 muxers.
///
/// Playlists, demuxers that open a second file, hardware codecs and filters are excluded: a playlist inside an AVI is
/// a known way to read files and to reach the network (neex/ffmpeg-avi-m3u-xbin). Each name is needed by a test file,
/// except for `unsampled`. libav's parsers cannot be listed; they are selected by codec.
package enum AllowList {
    /// Full demuxer names, as `format_whitelist` compares them.
    package static let demuxers: Set<String> = [
        // "mpegvideo" is an MPEG-1 or MPEG-2 elementary stream, "mpeg" a program stream.
        "mov,mp4,m4a,3gp,3g2,mj2", "avi", "mpeg", "mpegvideo", "mpegts", "matroska,webm", "flv", "asf", "ogg",
        "aac", "ac3", "eac3", "flac", "amr", "au", "caf", "aiff", "wav", "mp3", "wv", "tta", "w64",
        // RealMedia; Musepack before and since stream version 8; Monkey's Audio; DSD in DSF and, by "iff", in DFF.
        "rm", "mpc", "mpc8", "ape", "dsf", "iff",
    ]

    /// Decoder names: where a codec has several decoders, the one that libav prefers.
    package static let decoders: Set<String> = videoDecoders.union(audioDecoders)

    /// Decoders without a test file, because no free encoder exists: Windows Media, Flash, RealVideo and Indeo.
    ///
    /// VC-1, WMA Pro and Voice, RealVideo 3 and 4, and the first MS-MPEG4 were tried by hand with files of FFmpeg's
    /// FATE suite.
    package static let unsampled: Set<String> = [
        "wmv3", "vc1", "wmapro", "wmalossless", "wmavoice", "vp6f", "rv30", "rv40", "indeo2", "indeo3", "indeo4",
        "indeo5", "msmpeg4v1",
    ]

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
        "flv", "vp6f",
        // Windows Media, and DivX 3, which is decoded by "msmpeg4".
        "wmv1", "wmv2", "wmv3", "vc1", "msmpeg4v1", "msmpeg4v2", "msmpeg4",
        // AVI of the 1990s, and RealVideo.
        "cinepak", "msvideo1", "msrle", "indeo2", "indeo3", "indeo4", "indeo5", "rv10", "rv20", "rv30", "rv40",
        // Camera and editing formats, screen recordings, archives.
        "prores", "dnxhd", "dvvideo", "qtrle", "png", "rawvideo", "ffv1",
        // BMP files, which libvips cannot decode.
        "bmp",
    ]

    private static let audioDecoders: Set<String> = [
        // "aac_latm" is used in broadcasts.
        "aac", "aac_latm", "alac", "mp3float", "mp2", "ac3", "eac3", "dca", "flac", "vorbis", "opus", "speex",
        "amrnb", "amrwb", "wavpack", "tta", "wmav1", "wmav2", "wmapro", "wmalossless", "wmavoice",
        // RealAudio, from 14.4 kbit/s on.
        "real_144", "real_288", "sipr", "cook",
        // Archives: Musepack, Monkey's Audio, and the 1-bit samples of Super Audio CDs.
        "mpc7", "mpc8", "ape", "dsd_lsbf_planar", "dsd_msbf_planar", "dsd_msbf",
        // WAV, AVI, MOV and FLV of telephone systems and old computers.
        "gsm_ms", "truespeech", "g726", "adpcm_ima_wav", "adpcm_ima_qt", "adpcm_ms", "adpcm_yamaha", "adpcm_swf",
        "pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le",
        "pcm_f32be", "pcm_f64le", "pcm_f64be", "pcm_alaw", "pcm_mulaw",
    ]
}
