import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// The processor time that a call of a media process may take, by what its file declares: bytes, pixels and frames.
///
/// It limits reading and decoding, whose cost a file determines. Encoding adapts to the time that is left, which
/// `EncodingTime` limits. Pure.
///
/// Each number is at least three times what the slowest intact file needed, of some 110 generated ones; see
/// docs/explanation/two-processes.md, "Processor time". `ProcessorAllowanceTests` has the slowest.
// Bounded throughout: floating-point numbers, and a count of at least 1.
struct ProcessorAllowance: Sendable, Hashable {
    /// Seconds for a megabyte of the file and for a megapixel.
    struct Rate: Sendable, Hashable {
        var perMegabyte: Double
        /// Of the first frame.
        var perMegapixel: Double
        /// Of each further frame.
        var perFurtherMegapixel: Double
    }

    let call: MediaCall
    /// Bytes of the file; of one that is still downloading, those that are expected.
    let bytes: Int
    private var pixels = 0
    private var frames = 1
    /// Whether the file is read, so that only the deadline limits the call.
    private(set) var isEncoding = false

    init(_ call: MediaCall, bytes: Int) {
        self.call = call
        self.bytes = max(0, bytes)
    }

    mutating func record(_ report: WorkReport) {
        switch report {
        case .declared(let pixels, let frames):
            // A header can declare any number, but each frame takes some bytes.
            let possible = max(1, bytes / Limits.frameBytesMin)
            let count = max(1, min(frames ?? possible, possible))
            guard pixels.multiplied(clamping: count) > self.pixels.multiplied(clamping: self.frames) else { return }
            (self.pixels, self.frames) = (max(0, pixels), count)
        case .encoding: isEncoding = true
        }
    }

    /// Seconds from the beginning of the call until all is decoded.
    var seconds: Double {
        if call.isDrawing { return Limits.callProcessorSecondsMin }
        let rate = Self.rate(call)
        let megapixels = Double(pixels) / 1_000_000
        let declared =
            Double(bytes) / 1_000_000 * rate.perMegabyte + megapixels * rate.perMegapixel
            + megapixels * Double(frames - 1) * rate.perFurtherMegapixel
        return max(Limits.callProcessorSecondsMin, declared)
    }

    private static func rate(_ call: MediaCall) -> Rate {
        switch call {
        case .inspect(let request): rate(request.format)
        case .render(let request): rate(request.format)
        // Only the first bytes are read.
        case .identify, .describe: Rate(perMegabyte: 0, perMegapixel: 0, perFurtherMegapixel: 0)
        }
    }

    private static func rate(_ format: MediaFormat?) -> Rate {
        guard let format, format.kind == .image else { return movies }
        return format == .jpegXL ? jpegXL : images
    }

    /// Slowest a megabyte: a lossless AVIF (0.13 s), JPEG 2000 (0.13 s). A megapixel: JPEG 2000 of one color
    /// (0.028 s), a lossless WebP of one color (0.018 s). A further frame: WebP (0.008 s).
    private static let images = Rate(perMegabyte: 0.5, perMegapixel: 0.1, perFurtherMegapixel: 0.025)
    /// Slowest a megapixel: one color, lossless (0.109 s).
    private static let jpegXL = Rate(perMegabyte: 0.5, perMegapixel: 0.35, perFurtherMegapixel: 0.35)
    /// The whole file is read and some hundred frames are decoded, at most all. Slowest: AV1 (1.6 s for 16 MB and 186
    /// megapixels), VP9 (0.8 s for 7 MB and 186 megapixels).
    private static let movies = Rate(perMegabyte: 0.3, perMegapixel: 0.01, perFurtherMegapixel: 0.01)
}

/// The time that making an attachment or a crop may take, by what its source declares, however long the budget is.
/// Encoders adapt to it: they choose faster settings, and less detail before they would miss it. Pure.
// Bounded throughout: floating-point numbers.
enum EncodingTime {
    /// Nil for a render that only decodes or copies, which `ProcessorAllowance` limits.
    static func secondsMax(_ request: RenderRequest, media: InspectedMedia, bytes: Int) -> Double? {
        guard let encoding = encodingSeconds(request, media: media, bytes: bytes) else { return nil }
        var decoding = ProcessorAllowance(.render(request), bytes: bytes)
        let pixels = (media.width ?? 0).multiplied(clamping: media.height ?? 0)
        decoding.record(.declared(pixels: pixels, frames: frames(media, bytes: bytes)))
        return decoding.seconds + encoding
    }

    private static func encodingSeconds(_ request: RenderRequest, media: InspectedMedia, bytes: Int) -> Double? {
        let megabytes = Double(max(0, bytes)) / 1_000_000
        switch request.attachment {
        case .still: return 8 + megabytes + 0.1 * megapixels(media)
        case .animation where request.attachment?.isCopy == false:
            return 6 + 4 * megabytes + 0.015 * megapixels(media) * Double(frames(media, bytes: bytes))
        case .movie where request.attachment?.isCopy == false:
            let shown = min(megapixels(media), Limits.encodedMovieMegapixelsMax)
            // Three times what 20 s of 1080p took on two cores: 13 s for 1,244 megapixels.
            return 6 + 4 * megabytes + 0.032 * shown * Double(frames(media, bytes: bytes))
        case .audio where request.attachment?.isCopy == false:
            return 6 + megabytes + 0.1 * min(media.duration ?? 0, Double(bytes) * Limits.audioSecondsPerByteMax)
        case .animation, .movie, .audio: return nil
        case nil: return request.crop == nil && request.targets.isEmpty ? nil : 8 + megabytes + 0.1 * megapixels(media)
        }
    }

    private static func megapixels(_ media: InspectedMedia) -> Double {
        Double(media.width ?? 0) * Double(media.height ?? 0) / 1_000_000
    }

    private static func frames(_ media: InspectedMedia, bytes: Int) -> Int {
        let declared = media.frames ?? Int(clamping: (media.duration ?? 0) * (media.video?.frameRate ?? 30))
        return max(1, min(declared, bytes / Limits.frameBytesMin))
    }
}

extension Limits {
    /// Processor seconds that any call may take: starting decoders, a slow machine. An SVG may not take more, since
    /// neither its bytes nor its pixels bound the work; real drawings take a few hundredths.
    package static let callProcessorSecondsMin = 2.0
    /// Bytes of a frame, at least: one that only repeats the last one, with its entry in an index.
    package static let frameBytesMin = 16
    /// Seconds of audio in a byte, at most: silence in Opus.
    static let audioSecondsPerByteMax = 0.1
    /// Megapixels of an encoded movie's frame: 4K.
    static let encodedMovieMegapixelsMax = 8.3
}
