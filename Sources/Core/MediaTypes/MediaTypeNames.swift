/// Names of media types in lowercase: file extensions, MIME types, uniform type identifiers and keywords.
package enum MediaTypeNames {
    /// File extensions, and the type keywords of Home Assistant.
    package static let extensions = table([
        (.jpeg, "jpg jpeg jpe jfif"), (.png, "png apng"), (.gif, "gif"), (.webp, "webp"), (.heic, "heic heics"),
        (.heif, "heif heifs hif"), (.avif, "avif avifs"), (.tiff, "tif tiff"), (.bmp, "bmp dib"), (.svg, "svg svgz"),
        (.icon, "ico"), (.jpeg2000, "jp2 j2k"), (.jpegXL, "jxl"),
        (.aiff, "aiff aif"), (.aifc, "aifc"), (.wave, "wav wave waveformaudio"), (.mp3, "mp3"),
        (.mpeg4Audio, "m4a m4b m4r mpeg4audio"), (.aac, "aac adts"), (.mp2, "mp2"), (.ac3, "ac3"),
        (.eac3, "eac3 ec3"), (.amr, "amr"), (.au, "au snd"), (.caf, "caf"), (.flac, "flac"), (.vorbis, "ogg oga"),
        (.opus, "opus"), (.speex, "spx"), (.windowsMediaAudio, "wma"), (.wavPack, "wv"), (.trueAudio, "tta"),
        (.wave64, "w64"), (.matroskaAudio, "mka"), (.dts, "dts"), (.midi, "mid midi"),
        (.mpegProgramStream, "mpg mpeg mpe vob"), (.mpeg1Video, "m1v"), (.mpeg2Video, "m2v mpeg2"),
        (.mpeg4, "mp4 mpeg4"), (.avi, "avi"), (.quickTime, "mov qt"), (.m4v, "m4v"), (.threeGPP, "3gp 3gpp"),
        (.threeGPP2, "3g2"), (.webm, "webm"), (.matroska, "mkv"), (.mpegTransportStream, "ts m2ts mts"),
        (.flashVideo, "flv"), (.windowsMedia, "wmv asf"), (.oggVideo, "ogv"), (.mxf, "mxf"), (.digitalVideo, "dv"),
        (.flash, "swf"),
    ])

    /// Keywords of Home Assistant that are not used as file extensions.
    package static let nonExtensionNames: Set<String> = ["waveformaudio", "mpeg4audio", "mpeg4", "mpeg2"]

    /// Further MIME types of a format, beside `MediaFormat.mimeType`.
    package static let otherMIMETypes = table([
        (.jpeg, "image/jpg image/pjpeg image/jpe"), (.png, "image/x-png image/apng image/vnd.mozilla.apng"),
        (.tiff, "image/tif"), (.bmp, "image/x-ms-bmp image/x-bmp"), (.heic, "image/heic-sequence"),
        (.heif, "image/heif-sequence"), (.icon, "image/x-icon"), (.svg, "image/svg"),
        (.aiff, "audio/x-aiff"), (.aifc, "audio/aifc"), (.wave, "audio/x-wav audio/wave audio/vnd.wave"),
        (.mp3, "audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg"),
        (.mpeg4Audio, "audio/m4a audio/x-m4a audio/mp4a-latm"), (.aac, "audio/x-aac audio/aacp"),
        (.caf, "audio/caf"), (.flac, "audio/x-flac"), (.vorbis, "application/ogg audio/vorbis audio/x-ogg"),
        (.midi, "audio/x-midi"), (.mpeg4, "video/x-mp4 application/mp4"),
        (.avi, "video/avi video/msvideo video/vnd.avi"), (.mpegProgramStream, "video/mpg video/x-mpeg"),
        (.mpeg2Video, "video/mpeg2 video/x-mpeg2"), (.quickTime, "video/mov"), (.matroska, "video/mkv"),
        (.windowsMedia, "video/x-ms-asf"),
    ])

    /// UTIs: the eleven of Apple's table, others that iOS accepts, and types that it drops.
    package static let identifiers = table([
        (.jpeg, "public.jpeg"), (.png, "public.png"), (.gif, "com.compuserve.gif"),
        (.webp, "org.webmproject.webp public.webp"), (.heic, "public.heic public.heics"),
        (.heif, "public.heif public.heifs"), (.avif, "public.avif"), (.tiff, "public.tiff"),
        (.bmp, "com.microsoft.bmp"), (.svg, "public.svg-image"), (.icon, "com.microsoft.ico"),
        (.jpeg2000, "public.jpeg-2000"), (.jpegXL, "public.jpeg-xl"),
        (.aiff, "public.aiff-audio"), (.aifc, "public.aifc-audio"), (.wave, "com.microsoft.waveform-audio"),
        (.mp3, "public.mp3"), (.mpeg4Audio, "public.mpeg-4-audio com.apple.m4a-audio"), (.mp2, "public.mp2"),
        (.aac, "public.aac-audio"), (.ac3, "public.ac3-audio"), (.eac3, "public.enhanced-ac3-audio"),
        (.amr, "org.3gpp.adaptive-multi-rate-audio"), (.au, "public.au-audio public.ulaw-audio"),
        (.caf, "com.apple.coreaudio-format"), (.flac, "org.xiph.flac"), (.vorbis, "org.xiph.ogg-audio"),
        (.opus, "org.xiph.opus"), (.midi, "public.midi-audio"),
        (.mpegProgramStream, "public.mpeg"), (.mpeg2Video, "public.mpeg-2-video"), (.mpeg4, "public.mpeg-4"),
        (.avi, "public.avi"), (.quickTime, "com.apple.quicktime-movie"), (.m4v, "com.apple.m4v-video"),
        (.threeGPP, "public.3gpp"), (.threeGPP2, "public.3gpp2"), (.webm, "org.webmproject.webm"),
        (.matroska, "org.matroska.mkv"), (.mpegTransportStream, "public.mpeg-2-transport-stream"),
        (.windowsMedia, "com.microsoft.windows-media-wmv"), (.oggVideo, "org.xiph.ogg-video"),
    ])

    /// Keywords and UTIs that name only a kind.
    package static let kinds: [String: MediaKind] = [
        "image": .image, "picture": .image, "photo": .image, "img": .image, "pic": .image, "public.image": .image,
        "animation": .image, "video": .movie, "movie": .movie, "film": .movie, "clip": .movie,
        "public.movie": .movie, "public.video": .movie, "public.audiovisual-content": .movie, "audio": .audio,
        "sound": .audio, "music": .audio, "voice": .audio, "public.audio": .audio,
    ]

    /// Formats by MIME type without parameters; the first one when several share it.
    package static let mimeTypes = MediaFormat.allCases.reduce(into: otherMIMETypes) { table, format in
        // MPEG-1 and MPEG-2 streams share a MIME type, as do MP3 and MP2; the attachable format comes first.
        if table[format.mimeType] == nil { table[format.mimeType] = format }
    }

    private static func table(_ rows: [(MediaFormat, String)]) -> [String: MediaFormat] {
        rows.reduce(into: [:]) { table, row in
            for name in row.1.split(separator: " ") { table[String(name)] = row.0 }
        }
    }
}
