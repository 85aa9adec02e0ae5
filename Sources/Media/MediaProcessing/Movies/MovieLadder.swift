import Foundation
import MediaLibraries
package import MediaTypes
import SafeArithmetic

/// Measurements on which the choice of encoding settings is based.
struct EncodeEstimate: Sendable, Hashable {
    /// Maximum size, by the source and the limits.
    var shape: MovieShape
    /// Frames per second of the source, and the maximum for the output.
    var frameRate: Double
    var frameRateMax: Double
    /// Duration of the output timeline in seconds.
    var duration: Double
    /// Bytes of the whole video at the trial's size and the full frame rate.
    var curve: RateCurve
    var trialShape: MovieShape
    var trialPreset: VideoEncoderSettings.Preset
    /// Seconds to decode and scale one frame.
    var secondsPerFrame: Double
    /// Seconds to encode one megapixel with the trial's preset.
    var secondsPerMegapixel: Double
    /// Maximum bytes of video.
    var bytesMax: Double
    /// Lowest rate factor, that is, the best quality allowed.
    var qualityBest: Double
    /// Seconds left for the whole encoding.
    var secondsLeft: Double
}

extension EncodeEstimate {
    init(
        shape: MovieShape, frameRate: Double, frameRateMax: Double, duration: Double, trialEncode: TrialEncode,
        bytesMax: Double, qualityBest: Double, secondsLeft: Double
    ) {
        self.init(
            shape: shape, frameRate: frameRate, frameRateMax: frameRateMax, duration: duration,
            curve: trialEncode.curve, trialShape: trialEncode.shape, trialPreset: trialEncode.preset,
            secondsPerFrame: trialEncode.secondsPerFrame, secondsPerMegapixel: trialEncode.secondsPerMegapixel,
            bytesMax: bytesMax, qualityBest: qualityBest, secondsLeft: secondsLeft)
    }
}

extension EncodeEstimate {
    /// What lack of time would take from the movie is decided by the latest pace: `again` measures it once more.
    func renewedIfForced(_ again: () throws -> EncodeEstimate) rethrows -> EncodeEstimate {
        MovieLadder(estimate: self).choice.isForcedByTime ? try again() : self
    }
}

/// Encoding settings of a movie's video.
struct MovieChoice: Sendable, Hashable {
    var shape: MovieShape
    /// Maximum frames per second; nil keeps all.
    var frameRateMax: Double?
    var preset: VideoEncoderSettings.Preset
    /// x264's rate factor at the start.
    var quality: Double
    /// Seconds kept; nil for all.
    var cut: Double?
    /// Which frames are not decoded.
    var skipping = FrameSkipping.none
    /// Measured seconds to encode one frame.
    var encodeSecondsPerFrame = 0.0
    /// Whether lack of time, not the byte limit, reduced the result.
    var isForcedByTime = false
}

/// Which frames are not decoded, to save time.
enum FrameSkipping: Int, Sendable, Hashable, CaseIterable {
    case none
    /// Skips frames that no other frame refers to.
    case nonReference
    /// Skips all frames but keyframes.
    case keyframesOnly

    /// Remaining part of the decoding time.
    var share: Double {
        switch self {
        case .none: 1
        case .nonReference: 0.65
        case .keyframesOnly: 0.08
        }
    }
}

/// Chooses encoding settings: reduces quality first, then size, then frame rate, then length. Pure.
struct MovieLadder: Sendable, Hashable {
    /// Exponents: bytes grow slightly slower than pixels, and much slower than frames.
    private static let pixelPower = 0.8
    private static let framePower = 0.6
    /// Shares of the remaining time that are planned for: with slow presets, and with fast ones.
    private static let carefulShare = 0.5
    private static let quickShare = 0.72
    /// Encoding time per frame relative to veryfast; the ratios hold on any machine.
    private static let efforts: [VideoEncoderSettings.Preset: Double] = [
        .ultrafast: 0.4, .superfast: 0.7, .veryfast: 1, .faster: 1.6, .fast: 2.1, .medium: 2.6, .slow: 3.7,
        .slower: 7,
    ]
    /// Factor for overlap: decoding and encoding are measured separately but run at the same time.
    private static let overlap = 0.75

    let estimate: EncodeEstimate

    var choice: MovieChoice {
        var choice = byBytes
        if let preset = preset(for: choice) {
            choice.preset = preset
        } else {
            choice = byTime(choice)
        }
        choice.encodeSecondsPerFrame = encodeSecondsPerFrame(choice)
        return choice
    }

    // MARK: Bytes

    /// Chooses the largest size at good quality; below that reduces the frame rate, then the length.
    private var byBytes: MovieChoice {
        let shapes = estimate.shape.ladder
        let good = shapes.filter { $0.shortSide >= min(240, estimate.shape.shortSide) }
        for shape in good {
            let quality = quality(shape, rate: fullRate)
            if quality <= Limits.movieQualityWorst { return make(shape, rate: fullRate, quality: quality) }
        }
        let slow = min(fullRate, Limits.movieFrameRateFloor)
        for shape in shapes where shape.shortSide <= max(240, shapes[shapes.count - 1].shortSide) {
            let quality = quality(shape, rate: slow)
            if quality <= Limits.movieQualityFloor { return make(shape, rate: slow, quality: quality) }
        }
        let smallest = shapes[shapes.count - 1]
        var choice = make(smallest, rate: slow, quality: Limits.movieQualityFloor)
        choice.cut =
            estimate.duration * estimate.bytesMax / curve(smallest, rate: slow).bytes(at: Limits.movieQualityFloor)
        return choice
    }

    private func make(_ shape: MovieShape, rate: Double, quality: Double) -> MovieChoice {
        MovieChoice(
            shape: shape, frameRateMax: rate < estimate.frameRate * 0.98 ? rate : nil, preset: .medium,
            quality: max(estimate.qualityBest, quality))
    }

    private var fullRate: Double { min(estimate.frameRate, estimate.frameRateMax) }

    /// The rate factor at which the video takes `estimate.bytesMax` bytes.
    private func quality(_ shape: MovieShape, rate: Double) -> Double {
        curve(shape, rate: rate).quality(for: estimate.bytesMax)
    }

    private func curve(_ shape: MovieShape, rate: Double) -> RateCurve {
        var curve = estimate.curve
        curve.bytes *= pow(Double(shape.pixels) / Double(estimate.trialShape.pixels), Self.pixelPower)
        curve.bytes *= pow(rate / estimate.frameRate, Self.framePower)
        return curve
    }

    /// Expected bytes of the video with the given settings.
    func expectation(_ choice: MovieChoice) -> RateCurve {
        var curve = curve(choice.shape, rate: choice.frameRateMax ?? estimate.frameRate)
        if let cut = choice.cut { curve.bytes *= cut / max(estimate.duration, 0.001) }
        return curve
    }

    // MARK: Time

    /// Expected duration of the encoding in seconds.
    func seconds(_ choice: MovieChoice) -> Double {
        let seconds = choice.cut ?? estimate.duration
        let rate = min(estimate.frameRate, choice.frameRateMax ?? estimate.frameRate)
        let decoding = estimate.secondsPerFrame * estimate.frameRate * choice.skipping.share
        return seconds
            * (decoding + encodeSecondsPerFrame(choice) * rate * (choice.skipping == .keyframesOnly ? 0.1 : 1))
            * Self.overlap
    }

    private func encodeSecondsPerFrame(_ choice: MovieChoice) -> Double {
        let effort = (Self.efforts[choice.preset] ?? 1) / (Self.efforts[estimate.trialPreset] ?? 1)
        return estimate.secondsPerMegapixel * effort * choice.shape.megapixels
    }

    /// The slowest preset that fits the remaining time; nil if none does.
    private func preset(for choice: MovieChoice) -> VideoEncoderSettings.Preset? {
        let isFull = choice.quality <= estimate.qualityBest
        let best = isFull ? VideoEncoderSettings.Preset.medium : .slow
        return fitting(choice, presets: .veryfast...best, share: Self.carefulShare)
            ?? fitting(choice, presets: .superfast...VideoEncoderSettings.Preset.fast, share: Self.quickShare)
    }

    private func fitting(
        _ choice: MovieChoice, presets: ClosedRange<VideoEncoderSettings.Preset>, share: Double
    ) -> VideoEncoderSettings.Preset? {
        VideoEncoderSettings.Preset.allCases.reversed().filter(presets.contains).first { preset in
            var tried = choice
            tried.preset = preset
            return seconds(tried) <= estimate.secondsLeft * share
        }
    }

    /// Reduces size, then frame rate, with the fastest presets; a pass that is still too slow is cut while it runs.
    private func byTime(_ wanted: MovieChoice) -> MovieChoice {
        var choice = wanted
        for skipping in FrameSkipping.allCases {
            choice.skipping = skipping
            if skipping != .none, fullRate > 30 { choice.frameRateMax = 30 }
            for shape in wanted.shape.ladder where shape.shortSide >= min(360, wanted.shape.shortSide) {
                choice.shape = shape
                choice.isForcedByTime = skipping != .none || shape != wanted.shape
                choice.quality = max(estimate.qualityBest, quality(shape, rate: choice.frameRateMax ?? fullRate))
                for preset in [VideoEncoderSettings.Preset.veryfast, .superfast, .ultrafast] {
                    choice.preset = preset
                    // ultrafast is only used at the wanted size or up to 480 lines.
                    if preset == .ultrafast, shape != wanted.shape, shape.shortSide > 480 { continue }
                    if seconds(choice) <= estimate.secondsLeft * Self.quickShare { return choice }
                }
            }
        }
        // Nothing fits: encode until time runs out.
        choice.isForcedByTime = true
        choice.preset = .ultrafast
        choice.frameRateMax = min(fullRate, Limits.movieFrameRateFloor)
        return choice
    }
}

/// Estimates how many H.264 bytes a source is worth: detail that its own encoder lost cannot be restored by spending
/// more bytes. Pure.
enum CodecEfficiency {
    /// Bytes of H.264 that are equivalent to one byte of another codec.
    static func growth(_ codec: String) -> Double {
        switch codec {
        case "av1": 2.5
        case "hevc", "vp9": 2
        case "h264", "vp8": 1.5
        default: 1.2
        }
    }
}

extension EncodeEstimate {
    /// Limits the quality so that the output is not much larger than the source, where that makes no visible
    /// difference.
    mutating func capQuality(toBytes bytes: Int, codec: String) {
        let whole = MovieChoice(shape: shape, frameRateMax: nil, preset: trialPreset, quality: qualityBest)
        let worth = Double(bytes) * CodecEfficiency.growth(codec)
        let quality = MovieLadder(estimate: self).expectation(whole).quality(for: worth)
        qualityBest = max(qualityBest, min(Limits.movieQualityLowBitRate, quality))
    }
}

/// Displayed size of a movie in pixels: upright, square pixels, both sides even.
struct MovieShape: Sendable, Hashable {
    let width: Int
    let height: Int

    /// The even size nearest to the source's, reduced to the limits; never larger.
    ///
    /// - Parameters:
    ///   - longSideMax: Maximum longer side in pixels.
    ///   - shortSideMax: Maximum shorter side in pixels.
    init(width: Double, height: Double, longSideMax: Int? = nil, shortSideMax: Int? = nil) {
        let (long, short) = (max(width, height), min(width, height))
        var scale = min(1, Double(longSideMax ?? .max) / long)
        scale = min(scale, Double(shortSideMax ?? .max) / short)
        self.width = Self.even(width * scale, max: width)
        self.height = Self.even(height * scale, max: height)
    }

    var shortSide: Int { min(width, height) }
    var pixels: Int { width.multiplied(clamping: height) }
    var megapixels: Double { Double(pixels) / 1_000_000 }

    /// The size with the same aspect ratio and another shorter side.
    func shrunk(toShortSide side: Int) -> MovieShape {
        MovieShape(width: Double(width), height: Double(height), shortSideMax: side)
    }

    /// This size and standard sizes below it, down to `Limits.movieShortSidePixelsFloor`, largest first.
    var ladder: [MovieShape] {
        let sides = [
            2160, 1440, 1080, 900, 720, 600, 540, 480, 432, 360, 288, 240, 192, Limits.movieShortSidePixelsFloor,
        ]
        return [self] + sides.filter { Double($0) < Double(shortSide) * 0.95 }.map(shrunk)
    }

    /// Text for messages, such as "1280 x 720".
    var text: String { "\(width) x \(height)" }

    private static func even(_ side: Double, max source: Double) -> Int {
        let nearest = Int(clamping: (side / 2).rounded()).multiplied(clamping: 2)
        return max(2, Double(nearest) > source ? nearest.subtracting(clamping: 2) : nearest)
    }
}

extension Limits {
    /// Phones decode H.264 up to 4K at 60 frames/s; pixels of the longer and the shorter side.
    static let movieLongSidePixelsMax = 3_840
    static let movieShortSidePixelsMax = 2_160
    static let movieFrameRateMax = 60.0
    /// The lowest frame rate, a little over half of film's; below it, motion is not smooth.
    package static let movieFrameRateFloor = 15.0
    /// Pixels of the shorter side below which faces are not recognizable; smaller sources keep their size.
    package static let movieShortSidePixelsFloor = 144
    /// x264's rate factor for a movie that only changes its format: visually close to its source.
    package static let movieQuality = 20.0
    /// The highest rate factor for sources of low bit rate: their coding noise is not worth keeping.
    static let movieQualityLowBitRate = 25.0
    /// The rate factor for a movie that is shrunk: it uses the allowed bytes, up to where more are not visible.
    static let movieQualityBest = 16.0
    /// The worst rate factor before the frame size is reduced, which then looks better.
    static let movieQualityWorst = 33.0
    /// The worst rate factor before the movie is cut, which is then preferable.
    package static let movieQualityFloor = 37.0
}
