/// What of libav's 350 demuxers and 290 video decoders may ever see a byte of somebody else's file.
///
/// No playlist, no demuxer that opens a second file, no hardware, no filter: a playlist inside an AVI is a known way
/// to read files and to reach the network (neex/ffmpeg-avi-m3u-xbin).
package enum AllowList {
    /// By the demuxer's full name, as `format_whitelist` compares it.
    package static let demuxers: Set<String> = [
        "mov,mp4,m4a,3gp,3g2,mj2", "avi", "mpeg", "mpegvideo", "mpegts", "matroska,webm", "flv", "asf", "ogg",
        "aac", "ac3", "eac3", "flac", "amr", "au", "caf", "aiff", "wav", "mp3", "wv", "tta", "w64",
    ]

    /// By the decoder's name.
    package static let decoders: Set<String> = pictures.union(sounds)

    static let demuxerList = demuxers.sorted().joined(separator: ",")
    static let decoderList = decoders.sorted().joined(separator: ",")

    private static let pictures: Set<String> = [
        // Phones, cameras and the web.
        "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "h263", "mjpeg", "vp8", "vp9", "libdav1d", "libaom-av1",
        "theora", "flv", "vp6", "vp6f", "vp6a", "wmv1", "wmv2", "wmv3", "vc1", "msmpeg4v1", "msmpeg4v2", "msmpeg4",
        // Editing and old QuickTime and AVI.
        "prores", "dnxhd", "dvvideo", "qtrle", "rpza", "smc", "svq1", "svq3", "cinepak", "rawvideo", "png", "mjpegb",
        "8bps", "h261", "huffyuv", "ffvhuff", "ffv1", "utvideo", "msvideo1", "msrle", "indeo3", "indeo5", "v210", "bmp",
    ]

    private static let sounds: Set<String> = [
        "aac", "aac_latm", "alac", "mp3float", "mp3", "mp2float", "mp2", "mp1float", "mp1", "ac3", "eac3", "flac",
        "vorbis", "opus", "libopus", "speex", "libspeex", "amrnb", "amrwb", "wavpack", "tta", "dca",
        "wmav1", "wmav2", "wmapro", "wmalossless", "wmavoice", "nellymoser", "adpcm_swf", "qdm2", "qdmc", "mace3",
        "mace6", "gsm", "gsm_ms", "adpcm_ima_qt", "adpcm_ima_wav", "adpcm_ms", "adpcm_g722", "adpcm_g726",
        "pcm_u8", "pcm_s8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be", "pcm_f32le",
        "pcm_f32be", "pcm_f64le", "pcm_f64be", "pcm_alaw", "pcm_mulaw", "pcm_u16le", "pcm_u16be", "pcm_dvd",
        "pcm_bluray",
    ]
}
