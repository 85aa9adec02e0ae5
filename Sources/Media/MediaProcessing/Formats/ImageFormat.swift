import MediaEngine
import MediaLibraries
import MediaTypes

/// How images of one format are inspected and decoded: all that the media process knows of the format, beside its
/// signature (`ImageSignature`).
///
/// Only `inspect` has to be declared. What else a format does not declare, it does not have, and libvips decodes it.
protocol ImageFormat: Sendable {
    /// Checks the limits by the header, and describes the image; decodes pixels only where the request asks for it.
    func inspect(_ inspection: ImageInspection) throws -> InspectedMedia

    /// Renders a still from all of its pixels.
    func render(with renderer: ImageRenderer) throws -> RenderedMedia

    /// Renders a thumbnail faster than libvips does, also of a file that is still downloading; nil where that does not
    /// apply.
    func renderReduced(with renderer: ImageRenderer, _ download: DownloadingFile?) throws -> RenderedMedia?

    /// Whether the decoder can reduce an image, so that a thumbnail needs fewer pixels.
    var isReducedWhileDecoding: Bool { get }

    /// The still as libvips reads it.
    func open(_ source: CInt, pages: Image.Pages, deadline: ContinuousClock.Instant) throws -> Image

    /// The orientation that libvips does not know of.
    func textOrientation(_ source: CInt) -> Orientation?

    /// Bytes that the decoder holds beside the rows it returns.
    ///
    /// - Throws: `media.too_many_pixels` when they exceed the limit.
    func decoderBytes(of stored: Image, source: CInt, deadline: ContinuousClock.Instant) throws -> Int

    /// Rejects a still with any damage in its coded data that the decoder does not report.
    ///
    /// - Throws: `media.corrupt`.
    func requireIntact(_ source: CInt) throws

    /// The colors by the numbers in the container; nil where libvips reads them, or they are sRGB.
    func colors(in window: ByteWindow) throws -> DeclaredColors?

    /// What remains of a file without its metadata; nil where it has to be encoded again.
    func retained(in window: ByteWindow) throws -> RetainedBytes?

    /// The frames of an animation; nil if the format has none.
    func animation(_ source: CInt, deadline: ContinuousClock.Instant) throws -> (any AnimationDecoder)?

    /// The delays of an animation's frames in milliseconds, as the file has them.
    func frameDelays(_ source: CInt, deadline: ContinuousClock.Instant) throws -> [Int]

    /// Whether it is decoded as the cover of audio: only what is common there, within the limits of decoding.
    func isCover(_ window: ByteWindow) -> Bool
}

extension ImageFormat {
    func render(with renderer: ImageRenderer) throws -> RenderedMedia { try renderer.validateAndRender() }

    func renderReduced(with renderer: ImageRenderer, _ download: DownloadingFile?) throws -> RenderedMedia? { nil }

    var isReducedWhileDecoding: Bool { false }

    func open(_ source: CInt, pages: Image.Pages, deadline: ContinuousClock.Instant) throws -> Image {
        try Image.open(descriptor: source, pages: pages)
    }

    func textOrientation(_ source: CInt) -> Orientation? { nil }

    func decoderBytes(of stored: Image, source: CInt, deadline: ContinuousClock.Instant) throws -> Int { 0 }

    func requireIntact(_ source: CInt) throws {}

    func colors(in window: ByteWindow) throws -> DeclaredColors? { nil }

    func retained(in window: ByteWindow) throws -> RetainedBytes? { nil }

    func animation(_ source: CInt, deadline: ContinuousClock.Instant) throws -> (any AnimationDecoder)? { nil }

    func frameDelays(_ source: CInt, deadline: ContinuousClock.Instant) throws -> [Int] { [] }

    func isCover(_ window: ByteWindow) -> Bool { false }
}

extension MediaFormat {
    /// The row of an image format; nil for audio and movies.
    var imageFormat: (any ImageFormat)? {
        switch self {
        case .jpeg: JPEGFormat()
        case .png: PNGFormat()
        case .gif: GIFFormat()
        case .webp: WebPFormat()
        case .heic, .heif, .avif: HEIFFormat(format: self)
        case .tiff: TIFFFormat()
        case .bmp: BMPFormat()
        case .icon: IconFormat()
        case .jpeg2000: JPEG2000Format()
        case .jpegXL: JPEGXLFormat()
        case .svg: SVGFormat()
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
