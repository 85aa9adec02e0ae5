import RichPush

/// How many bytes of H.264 a source's pictures are worth: what it lost to its own encoder does not come back, however
/// many bytes are spent on it. Pure.
enum SourceWorth {
    /// Bytes that H.264 takes for what another codec does in one.
    static func growth(_ codec: String) -> Double {
        switch codec {
        case "av1": 2.5
        case "hevc", "vp9": 2
        case "h264", "vp8": 1.5
        default: 1.2
        }
    }
}

extension MovieLoad {
    /// Does not spend much more on the pictures than they came with, as far as that is not seen.
    mutating func keepToWorth(ofBytes bytes: Int, codec: String) {
        let whole = MovieChoice(shape: shape, frameRateMax: nil, preset: pilotPreset, quality: qualityBest)
        let worth = Double(bytes) * SourceWorth.growth(codec)
        let quality = MovieLadder(load: self).expectation(whole).quality(for: worth)
        qualityBest = max(qualityBest, min(Limits.movieQualityOfWorth, quality))
    }
}
