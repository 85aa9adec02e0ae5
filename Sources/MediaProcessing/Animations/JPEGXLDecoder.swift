import AttachPrepModel
import JXL
import LibAV
import MediaEngine
import RichPush
import SafeArithmetic
import Vips

/// Decodes the frames of an animated JPEG XL; libjxl composes them.
final class JPEGXLAnimationDecoder: AnimationDecoder {
    let loopCount: Int
    private let delays: [Int]
    private let window: ByteWindow
    private let deadline: ContinuousClock.Instant
    private let header: JXLHeader
    /// Opened with the first frame, since some callers need only the size.
    private var pixels: JPEGXLPixels?
    private var number = 0

    var width: Int { header.width }
    var height: Int { header.height }
    var count: Int { delays.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        window = try ByteWindow(descriptor: descriptor, noun: "JPEG XL image", deadline: deadline)
        let frames = try JPEGXLFrames.parse(window, deadline: deadline)
        self.deadline = deadline
        header = frames.header
        delays = frames.delaysMilliseconds
        loopCount = frames.loopCount
    }

    func next() throws -> AnimationFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        let pixels = try pixels ?? JPEGXLPixels(window, deadline: deadline)
        self.pixels = pixels
        guard let frame = try pixels.next() else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before frame \(number); the file is corrupt.")
        }
        defer { number += 1 }
        return AnimationFrame(pixels: frame, delayMilliseconds: AnimationDecoders.shown(delays[number]))
    }
}

/// The header and the frames' durations of a JPEG XL, read without decoding.
struct JPEGXLFrames: Sendable, Hashable {
    let header: JXLHeader
    /// Duration of each frame in milliseconds; one for a still.
    private(set) var delaysMilliseconds: [Int] = []

    /// Number of plays; 0 is infinite.
    var loopCount: Int { header.loopCount }

    /// Seconds of one play.
    var duration: Double {
        // Bounded: floating point.
        delaysMilliseconds.reduce(0.0) { $0 + Double(AnimationDecoders.shown($1)) / 1000 }
    }

    /// Reads the header, and all layers of an animation.
    ///
    /// - Throws: `media.corrupt` when the file is truncated, and over the limits of images and animations.
    static func parse(_ window: ByteWindow, deadline: ContinuousClock.Instant) throws -> JPEGXLFrames {
        try readingJPEGXL(window) {
            let decoder = try JXLDecoder(.layers, window, deadline: deadline)
            try ImageLimits.check(width: decoder.header.width, height: decoder.header.height)
            var frames = JPEGXLFrames(header: decoder.header)
            if decoder.header.isAnimated { try frames.readLayers(decoder, window) }
            return frames
        }
    }

    private init(header: JXLHeader) {
        self.header = header
        if !header.isAnimated { delaysMilliseconds = [0] }
    }

    /// Adds up durations before rounding, so that the whole has the right length.
    private mutating func readLayers(_ decoder: JXLDecoder, _ window: ByteWindow) throws {
        var (layers, pixels, ticks) = (0, 0, 0)
        var isComplete = false
        while let layer = try decoder.nextLayer() {
            if layers == Limits.animationFramesMax { throw tooManyFrames("JPEG XL image") }
            // Bounded: by the limit above.
            layers += 1
            try DecodingMemory.checkJPEGXL(header, width: layer.width, height: layer.height)
            pixels = pixels.adding(clamping: layer.width.multiplied(clamping: layer.height))
            guard layer.ticks > 0 || layer.isLast else { continue }
            pixels = pixels.adding(clamping: header.width.multiplied(clamping: header.height))
            let start = milliseconds(ticks)
            ticks = ticks.adding(clamping: layer.ticks)
            delaysMilliseconds.append(milliseconds(ticks).subtracting(clamping: start))
            isComplete = layer.isLast
        }
        guard isComplete else { throw window.cut }
        // Layers are drawn, and frames are composed of them.
        guard pixels / 2 <= Limits.animationPixelsMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The JPEG XL image has \(layers) layers of up to \(header.width) x \(header.height) pixels, over the "
                    + "limit of \(Limits.animationPixelsMax.grouped) pixels in total; send fewer or smaller frames.")
        }
        try ImageLimits.check(width: header.width, height: header.height, frames: delaysMilliseconds.count)
        try DecodingMemory.checkJPEGXL(header, width: header.width, height: header.height)
    }

    private func milliseconds(_ ticks: Int) -> Int {
        // Bounded: floating point.
        Int(clamping: (min(header.seconds(ticks), Limits.durationSecondsMax) * 1000).rounded())
    }
}

/// The pixels of the frames of a JPEG XL in sRGB, 8 bits a component: HDR is tone-mapped.
final class JPEGXLPixels {
    let header: JXLHeader
    private let decoder: JXLDecoder
    private let window: ByteWindow
    private let map: ToneMap?

    init(_ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        let decoder = try readingJPEGXL(window) { try JXLDecoder(.frames, window, deadline: deadline) }
        let header = decoder.header
        (self.decoder, self.window, self.header) = (decoder, window, header)
        map = Self.transfer(header).map { ToneMap($0, Self.primaries(header)) }
    }

    /// The next frame: red, green, blue, alpha; nil after the last.
    func next() throws -> [UInt8]? {
        guard let frame = try readingJPEGXL(window, decoder.nextFrame) else { return nil }
        if let map { return map.sRGB(ofRGBA16: frame) }
        guard let profile = decoder.colorProfile, !ICCProfile.isSRGB(profile) else { return frame }
        return try Image.wrap(
            pixels: frame, width: header.width, height: header.height, bands: 4, orientation: 1, colorProfile: profile
        ).inSRGB().pixels()
    }

    /// Nil for SDR.
    private static func transfer(_ header: JXLHeader) -> StreamDescription.TransferFunction? {
        switch header.transfer {
        case .standard: nil
        case .perceptualQuantizer: .perceptualQuantizer
        case .hybridLogGamma: .hybridLogGamma
        }
    }

    private static func primaries(_ header: JXLHeader) -> ToneMap.ColorPrimaries {
        switch header.primaries {
        case .bt709: .bt709
        case .bt2020: .bt2020
        case .displayP3: .displayP3
        }
    }
}

/// Decodes a still JPEG XL in PQ or HLG, whose curve libvips ignores.
enum JPEGXLStill {
    /// - Returns: Nil for an SDR image and for one that libjxl cannot decode; the caller then uses libvips.
    /// - Throws: `media.too_many_pixels`, `deadline.exceeded`.
    static func decodeHDR(source: CInt, deadline: ContinuousClock.Instant) throws -> DecodedFrame? {
        let window = try ByteWindow(descriptor: source, noun: "JPEG XL image", deadline: deadline)
        guard let pixels = try FastPath.attempt({ try JPEGXLPixels(window, deadline: deadline) }),
            case let header = pixels.header, header.transfer != .standard
        else { return nil }
        try ImageLimits.check(width: header.width, height: header.height)
        try DecodingMemory.checkJPEGXL(header, width: header.width, height: header.height)
        return try FastPath.attempt {
            try pixels.next().map { frame in
                DecodedFrame(
                    width: header.width, height: header.height, bands: header.hasAlpha ? 4 : 3,
                    bytes: header.hasAlpha ? frame : ToneMap.withoutAlpha(frame), orientation: .upright)
            }
        }
    }
}

extension JXLDecoder {
    /// Reads from a window, and checks the deadline before each piece.
    convenience init(_ content: Content, _ window: ByteWindow, deadline: ContinuousClock.Instant) throws {
        try self.init(content, size: window.size) { range in
            try checkDeadline(deadline)
            return try window.all(in: range)
        }
    }
}

/// Maps libjxl's errors: it fails for truncated and corrupt files only.
private func readingJPEGXL<Result>(_ window: ByteWindow, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as JXLError {
        throw error.isTruncated ? window.cut : window.broken("\(error)")
    }
}
