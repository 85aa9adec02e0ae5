import MediaTypes

/// The formats of images. Choices by format list all of these, so that a new one does not compile until each has
/// decided about it.
enum ImageFormat {
    case jpeg, png, gif, webp, heic, heif, avif, tiff, bmp, icon, jpeg2000, jpegXL, svg
}

extension MediaFormat {
    /// The format as that of an image; nil for audio and movies.
    var imageFormat: ImageFormat? {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .gif: .gif
        case .webp: .webp
        case .heic: .heic
        case .heif: .heif
        case .avif: .avif
        case .tiff: .tiff
        case .bmp: .bmp
        case .icon: .icon
        case .jpeg2000: .jpeg2000
        case .jpegXL: .jpegXL
        case .svg: .svg
        case .aiff, .aifc, .wave, .mp3, .mpeg4Audio, .aac, .mp2, .ac3, .eac3, .amr, .au, .caf, .flac, .vorbis, .opus,
            .speex, .windowsMediaAudio, .wavPack, .trueAudio, .wave64, .matroskaAudio, .quickTimeAudio,
            .threeGPPAudio, .dts, .midi:
            nil
        case .mpegProgramStream, .mpeg1Video, .mpeg2Video, .mpeg4, .avi, .quickTime, .m4v, .threeGPP, .threeGPP2,
            .webm, .matroska, .mpegTransportStream, .flashVideo, .windowsMedia, .oggVideo, .mxf,
            .digitalVideo, .flash:
            nil
        }
    }
}
