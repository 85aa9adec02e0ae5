import Foundation
import LibAV
import RichPush

/// What is known of a movie's encoding before it begins. Everything in it was measured.
struct MovieLoad: Sendable, Hashable {
    /// What it may be at most, by the source and the limits.
    var shape: MovieShape
    /// Frames a second of the source, and what may be written of them at most.
    var frameRate: Double
    var frameRateMax: Double
    /// Seconds of the new timeline.
    var duration: Double
    /// Bytes all pictures take at the pilot's size and the full rate.
    var curve: RateCurve
    var pilotShape: MovieShape
    var pilotPreset: VideoEncoderSettings.Preset
    /// Seconds to decode and shape one frame.
    var secondsPerFrame: Double
    /// Seconds to encode a megapixel with the pilot's preset.
    var secondsPerMegapixel: Double
    /// Bytes the pictures may have.
    var bytesMax: Double
    /// The best rate factor there may be.
    var qualityBest: Double
    /// Seconds there are for all of it.
    var secondsLeft: Double
}

extension MovieLoad {
    init(
        shape: MovieShape, frameRate: Double, frameRateMax: Double, duration: Double, pilot: MoviePilot,
        bytesMax: Double, qualityBest: Double, secondsLeft: Double
    ) {
        self.init(
            shape: shape, frameRate: frameRate, frameRateMax: frameRateMax, duration: duration,
            curve: pilot.curve, pilotShape: pilot.shape, pilotPreset: pilot.preset,
            secondsPerFrame: pilot.secondsPerFrame, secondsPerMegapixel: pilot.secondsPerMegapixel,
            bytesMax: bytesMax, qualityBest: qualityBest, secondsLeft: secondsLeft)
    }
}

/// How a movie's pictures are encoded.
struct MovieChoice: Sendable, Hashable {
    var shape: MovieShape
    /// Frames a second at most; nil keeps all.
    var frameRateMax: Double?
    var preset: VideoEncoderSettings.Preset
    /// x264's rate factor to begin with.
    var quality: Double
    /// Seconds that are kept; nil for all.
    var cut: Double?
    /// Which pictures are decoded at all.
    var haste = FrameHaste.none
    /// Seconds that encoding one picture takes, as was measured.
    var secondsPerPicture = 0.0
    /// Whether time, not bytes, made it less.
    var isForcedByTime = false
}

/// Which pictures are not even decoded, for lack of time.
enum FrameHaste: Int, Sendable, Hashable, CaseIterable {
    case none
    /// Those that no other one needs.
    case withoutUnneeded
    /// All but keyframes.
    case keyframesOnly

    /// Part of the decoding that is left.
    var share: Double {
        switch self {
        case .none: 1
        case .withoutUnneeded: 0.65
        case .keyframesOnly: 0.08
        }
    }
}

/// The decision how to encode: quality gives way first, then size, then frame rate, then length. Pure.
// Bounded throughout: floating point.
struct MovieLadder: Sendable, Hashable {
    /// Bytes grow a little slower than pixels, and much slower than frames.
    private static let pixelPower = 0.8
    private static let framePower = 0.6
    /// Shares of the time there is that an encoding is planned for: a careful one, and a quick one.
    private static let carefulShare = 0.5
    private static let quickShare = 0.72
    /// How long x264 takes for a picture, veryfast being 1; ratios of presets hold on any machine.
    private static let efforts: [VideoEncoderSettings.Preset: Double] = [
        .ultrafast: 0.4, .superfast: 0.7, .veryfast: 1, .faster: 1.6, .fast: 2.1, .medium: 2.6, .slow: 3.7,
        .slower: 7,
    ]
    /// Decoding and encoding were measured one after the other; at once they keep the processor busier.
    private static let overlap = 0.75

    let load: MovieLoad

    var choice: MovieChoice {
        var choice = byBytes
        if let preset = preset(for: choice) {
            choice.preset = preset
        } else {
            choice = byTime(choice)
        }
        choice.secondsPerPicture = secondsPerPicture(choice)
        return choice
    }

    // MARK: Bytes

    /// The largest picture that still looks good, then fewer frames, then fewer seconds.
    private var byBytes: MovieChoice {
        let shapes = load.shape.ladder
        let good = shapes.filter { $0.shortSide >= min(240, load.shape.shortSide) }
        for shape in good {
            let quality = quality(shape, rate: fullRate)
            if quality <= Limits.movieQualityWorst { return make(shape, fullRate, quality) }
        }
        let slow = min(fullRate, Limits.movieFrameRateFloor)
        for shape in shapes where shape.shortSide <= max(240, shapes[shapes.count - 1].shortSide) {
            let quality = quality(shape, rate: slow)
            if quality <= Limits.movieQualityFloor { return make(shape, slow, quality) }
        }
        let smallest = shapes[shapes.count - 1]
        var choice = make(smallest, slow, Limits.movieQualityFloor)
        choice.cut = load.duration * load.bytesMax / curve(smallest, rate: slow).bytes(at: Limits.movieQualityFloor)
        return choice
    }

    private func make(_ shape: MovieShape, _ rate: Double, _ quality: Double) -> MovieChoice {
        MovieChoice(
            shape: shape, frameRateMax: rate < load.frameRate * 0.98 ? rate : nil, preset: .medium,
            quality: max(load.qualityBest, quality))
    }

    private var fullRate: Double { min(load.frameRate, load.frameRateMax) }

    /// The rate factor at which the pictures take the bytes they may have.
    private func quality(_ shape: MovieShape, rate: Double) -> Double {
        curve(shape, rate: rate).quality(for: load.bytesMax)
    }

    private func curve(_ shape: MovieShape, rate: Double) -> RateCurve {
        var curve = load.curve
        curve.bytes *= pow(Double(shape.pixels) / Double(load.pilotShape.pixels), Self.pixelPower)
        curve.bytes *= pow(rate / load.frameRate, Self.framePower)
        return curve
    }

    /// What the pictures of a choice are going to take.
    func expectation(_ choice: MovieChoice) -> RateCurve {
        var curve = curve(choice.shape, rate: choice.frameRateMax ?? load.frameRate)
        if let cut = choice.cut { curve.bytes *= cut / max(load.duration, 0.001) }
        return curve
    }

    // MARK: Time

    /// Seconds an encoding is going to take.
    func seconds(_ choice: MovieChoice) -> Double {
        let seconds = choice.cut ?? load.duration
        let rate = min(load.frameRate, choice.frameRateMax ?? load.frameRate)
        let decoding = load.secondsPerFrame * load.frameRate * choice.haste.share
        return seconds * (decoding + secondsPerPicture(choice) * rate * (choice.haste == .keyframesOnly ? 0.1 : 1))
            * Self.overlap
    }

    private func secondsPerPicture(_ choice: MovieChoice) -> Double {
        let effort = (Self.efforts[choice.preset] ?? 1) / (Self.efforts[load.pilotPreset] ?? 1)
        return load.secondsPerMegapixel * effort * choice.shape.megapixels
    }

    /// The most careful preset for which there is time.
    private func preset(for choice: MovieChoice) -> VideoEncoderSettings.Preset? {
        let isFull = choice.quality <= load.qualityBest
        let best = isFull ? VideoEncoderSettings.Preset.medium : .slow
        return fitting(choice, .veryfast...best, Self.carefulShare)
            ?? fitting(choice, .superfast...VideoEncoderSettings.Preset.fast, Self.quickShare)
    }

    private func fitting(
        _ choice: MovieChoice, _ presets: ClosedRange<VideoEncoderSettings.Preset>, _ share: Double
    ) -> VideoEncoderSettings.Preset? {
        VideoEncoderSettings.Preset.allCases.reversed().filter(presets.contains).first { preset in
            var tried = choice
            tried.preset = preset
            return seconds(tried) <= load.secondsLeft * share
        }
    }

    /// Smaller, then fewer frames, with the quickest presets; what still takes too long is cut on the way.
    private func byTime(_ wanted: MovieChoice) -> MovieChoice {
        var choice = wanted
        for haste in FrameHaste.allCases {
            choice.haste = haste
            if haste != .none, fullRate > 30 { choice.frameRateMax = 30 }
            for shape in wanted.shape.ladder where shape.shortSide >= min(360, wanted.shape.shortSide) {
                choice.shape = shape
                choice.isForcedByTime = haste != .none || shape != wanted.shape
                choice.quality = max(load.qualityBest, quality(shape, rate: choice.frameRateMax ?? fullRate))
                for preset in [VideoEncoderSettings.Preset.veryfast, .superfast, .ultrafast] {
                    choice.preset = preset
                    // The quickest is only worth it for what was asked for.
                    if preset == .ultrafast, shape != wanted.shape, shape.shortSide > 480 { continue }
                    if seconds(choice) <= load.secondsLeft * Self.quickShare { return choice }
                }
            }
        }
        // As far as it gets: how much that is, is seen on the way.
        choice.isForcedByTime = true
        choice.preset = .ultrafast
        choice.frameRateMax = min(fullRate, Limits.movieFrameRateFloor)
        return choice
    }
}
