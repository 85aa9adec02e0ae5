import MediaEngine
import MediaTypes
import Testing

@testable import AttachPrep

/// How much processor time a call may take by what its file declares, and how long encoding may take.
struct ProcessorAllowanceTests {
    private static func allowance(
        _ format: MediaFormat?, bytes: Int, megapixels: Double = 0, frames: Int? = 1
    ) -> ProcessorAllowance {
        var allowance = ProcessorAllowance(
            .inspect(InspectRequest(format: format, decodesStills: true)), bytes: bytes)
        if megapixels > 0 { allowance.record(.declared(pixels: Int(megapixels * 1_000_000), frames: frames)) }
        return allowance
    }

    /// An intact file, and the processor seconds of its slowest call when it was measured.
    struct Measured: Sendable, CustomStringConvertible {
        var name: String
        var format: MediaFormat
        var megabytes: Double
        var megapixels: Double
        var frames = 1
        var seconds: Double

        var description: String { name }
    }

    /// The slowest of each kind, of some 100 generated files: noise, smoothed noise and single colors in every
    /// compression. Where an attachment was encoded as well, its time is included, if it does not exceed a second.
    static let measured = [
        Measured(name: "JPEG, smoothed, progressive", format: .jpeg, megabytes: 2.8, megapixels: 12, seconds: 0.57),
        Measured(name: "TIFF, LZW", format: .tiff, megabytes: 11.1, megapixels: 12, seconds: 0.5),
        Measured(name: "WebP, lossless, noise", format: .webp, megabytes: 5.3, megapixels: 1.9, seconds: 0.12),
        Measured(name: "WebP, lossless, one color", format: .webp, megabytes: 0, megapixels: 12, seconds: 0.22),
        Measured(name: "HEIC, noise", format: .heic, megabytes: 2.4, megapixels: 1.9, seconds: 0.17),
        Measured(name: "AVIF, lossless, noise", format: .avif, megabytes: 6.8, megapixels: 1.9, seconds: 0.88),
        Measured(name: "AVIF, 10 bits", format: .avif, megabytes: 3.6, megapixels: 1.9, seconds: 0.32),
        Measured(name: "JPEG 2000, lossless, noise", format: .jpeg2000, megabytes: 34.6, megapixels: 12, seconds: 4.5),
        Measured(name: "JPEG 2000, one color", format: .jpeg2000, megabytes: 0, megapixels: 12, seconds: 0.33),
        Measured(name: "JPEG XL, lossless, effort 9", format: .jpegXL, megabytes: 5.1, megapixels: 1.9, seconds: 0.63),
        Measured(name: "JPEG XL, lossless, one color", format: .jpegXL, megabytes: 0, megapixels: 12, seconds: 1.31),
        Measured(name: "JPEG XL, smoothed noise", format: .jpegXL, megabytes: 1.3, megapixels: 12, seconds: 0.73),
        Measured(
            name: "AVIF sequence", format: .avif, megabytes: 2, megapixels: 0.23, frames: 30, seconds: 0.16),
        Measured(name: "AV1", format: .mpeg4, megabytes: 16.3, megapixels: 2.07, frames: 90, seconds: 1.6),
        Measured(name: "VP9", format: .webm, megabytes: 7, megapixels: 2.07, frames: 90, seconds: 0.79),
        Measured(name: "HEVC, 10 bits", format: .mpeg4, megabytes: 7.8, megapixels: 2.07, frames: 90, seconds: 0.42),
        Measured(
            name: "H.264 in Matroska", format: .matroska, megabytes: 16.9, megapixels: 2.07, frames: 180, seconds: 0.6),
    ]

    @Test(arguments: measured)
    func `An intact file may take three times what the slowest of its kind needed`(file: Measured) {
        let allowance = Self.allowance(
            file.format, bytes: Int(file.megabytes * 1_000_000), megapixels: file.megapixels, frames: file.frames)
        #expect(allowance.seconds >= 3 * file.seconds)
    }

    @Test(arguments: [
        (MediaFormat.jpeg, 12.0, 1, 1.2), (.jpeg2000, 118.8, 1, 11.88), (.jpegXL, 49, 1, 17.15), (.gif, 1, 1, 2),
        (.gif, 25, 40, 2.5 + 24.375), (.mpegTransportStream, 0, 1, 2), (.mpeg4, 36, 64, 23.04), (.svg, 100, 1, 2),
    ])
    func `A file of 1 KB may take less than 30 s, whatever it declares`(
        format: MediaFormat, megapixels: Double, frames: Int, seconds: Double
    ) {
        let allowance = Self.allowance(format, bytes: 1_024, megapixels: megapixels, frames: frames)
        #expect(abs(allowance.seconds - max(2, seconds)) < 0.01 && allowance.seconds < 30)
    }

    @Test func `Bytes and pixels of a file add up, and the largest size that is declared counts`() {
        var allowance = Self.allowance(.jpeg, bytes: 10_000_000, megapixels: 12)
        #expect(abs(allowance.seconds - 6.2) < 0.001)
        allowance.record(.declared(pixels: 1_000_000, frames: 1))
        #expect(abs(allowance.seconds - 6.2) < 0.001)
    }

    @Test(arguments: [nil, 1_000_000, .max, .min])
    func `A header cannot declare more frames than its bytes can hold`(frames: Int?) {
        let held = Self.allowance(.webm, bytes: 16_000, megapixels: 1, frames: frames == .min ? 1 : 1_000)
        #expect(Self.allowance(.webm, bytes: 16_000, megapixels: 1, frames: frames) == held)
    }

    @Test func `Identification and an SVG may take 2 s, whatever is declared`() {
        let identify = ProcessorAllowance(
            .identify(IdentifyRequest(availableBytes: .max, isComplete: true)), bytes: .max)
        #expect(identify.seconds == 2)
        #expect(Self.allowance(.svg, bytes: .max, megapixels: 100).seconds == 2)
    }

    // MARK: Encoding

    private static func media(_ format: MediaFormat, width: Int, height: Int) -> InspectedMedia {
        var media = InspectedMedia(format: format)
        (media.width, media.height) = (width, height)
        return media
    }

    @Test func `Encoding may take longer for more pixels, frames, seconds and bytes`() throws {
        var request = RenderRequest(format: .mpeg4, frameSelection: .still)
        request.attachment = .movie(MovieRendition(bytesMax: 1, copiesVideo: false, copiesAudio: false))
        var movie = Self.media(.mpeg4, width: 1_920, height: 1_080)
        let short = try #require(EncodingTime.secondsMax(request, media: movie, bytes: 1_000_000))
        (movie.duration, movie.frames) = (60, nil)
        let long = try #require(EncodingTime.secondsMax(request, media: movie, bytes: 1_000_000))
        let large = try #require(EncodingTime.secondsMax(request, media: movie, bytes: 2_000_000))
        // 1,800 frames of 2 megapixels may take 119 s to encode and 37 s to decode, a megabyte 4 s.
        #expect(long > short + 150 && large > long + 4)
        request.attachment = .movie(MovieRendition(bytesMax: 1, copiesVideo: true, copiesAudio: true))
        #expect(EncodingTime.secondsMax(request, media: movie, bytes: 1_000_000) == nil)
    }

    @Test func `A movie of 1 KB is encoded in less than 30 s, and a thumbnail has no such limit`() throws {
        var request = RenderRequest(format: .mpeg4, frameSelection: .movieTime(0))
        request.thumbnail = ThumbnailRendition(width: 300, height: 300, fit: .contain)
        var movie = Self.media(.mpeg4, width: 3_840, height: 2_160)
        movie.duration = 3_600
        #expect(EncodingTime.secondsMax(request, media: movie, bytes: 1_024) == nil)
        request.attachment = .movie(MovieRendition(bytesMax: 1, copiesVideo: false, copiesAudio: false))
        #expect(try #require(EncodingTime.secondsMax(request, media: movie, bytes: 1_024)) < 30)
    }
}
