import LibAV
import MediaEngine
import RichPush
import SafeArithmetic

/// How the bytes of a movie are shared between picture, sound and index.
// Bounded throughout: floating point.
struct MovieBudget {
    /// Bits a second of sound beside encoded pictures, when nothing presses.
    private static let soundBitRate = 128_000
    /// What sound may take of a tight limit, and at most when it is the floor already.
    private static let soundShare = 0.15
    private static let soundShareMax = 0.6
    /// What copied sound may take.
    private static let copiedShareMax = 0.2

    private let scan: MovieScan
    private let rendition: MovieRendition

    init(_ scan: MovieScan, _ rendition: MovieRendition) {
        self.scan = scan
        self.rendition = rendition
    }

    private var bytesMax: Double { Double(rendition.bytesMax) }
    private var soundSeconds: Double { scan.sounds?.end.map(scan.timeline.output) ?? 0 }

    /// Bytes of its pictures and its sound.
    private var mediaBytes: Int { scan.pictures.bytes.adding(clamping: scan.sounds?.bytes ?? 0) }

    /// Whether the file has to become smaller than it is: what fits at good quality is used up then.
    var isPressed: Bool {
        Double(mediaBytes) > bytesMax * Limits.movieFillShare
    }

    /// Bytes of the index and the headers.
    var overhead: Double {
        let sounds = max(Double(scan.sounds?.packets ?? 0), (soundSeconds * 48).rounded(.towardZero))
        return Double(scan.pictures.packets) * Double(Limits.movieIndexBytesPerPicture)
            + sounds * Double(Limits.movieIndexBytesPerSound) + Double(Limits.movieHeaderBytes)
    }

    /// Bytes of a copy from which on moving them for the index costs more than room left for it.
    private static let movedBytesMax = 4_000_000

    /// Room to leave for the index of a copy; nil where moving the file for it is cheaper than its slack.
    var roomForIndex: Int? {
        mediaBytes > Self.movedBytesMax ? Int(clamping: overhead) : nil
    }

    /// Whether the sound stream can be copied, as far as its packets say.
    var canCopySound: Bool {
        guard rendition.copiesAudio, let sounds = scan.sounds, let audio = scan.audio else { return false }
        if let max = rendition.audioBitRateMax, soundSeconds > 0,
            Double(sounds.bytes) * 8 / soundSeconds > Double(max) * 1.1
        {
            return false
        }
        return sounds.hiding != .middle && !(audio.codec == "aac" && audio.sampleRate == 0)
    }

    /// Sound at its usual quality.
    var fullSound: AudioEncoderSettings? { sound(bytesMax: .infinity) }

    /// Sound that takes so many bytes at most, as far as its floor allows.
    func sound(bytesMax: Double) -> AudioEncoderSettings? {
        guard let audio = scan.audio else { return nil }
        let rate = min(Self.soundBitRate, rendition.audioBitRateMax ?? .max)
        let ladder = SoundLadder(
            duration: max(0.1, soundSeconds), channels: audio.channels, sampleRate: audio.sampleRate,
            sourceBitRate: audio.bitRate, bytesMax: Int(clamping: min(1e12, max(0, bytesMax))), bitRateMax: rate)
        return ladder.best.settings
    }

    /// The sound beside pictures that are encoded.
    var soundBesideEncoded: MoviePlan.Sound {
        guard scan.audio != nil, let sounds = scan.sounds else { return .none }
        let encoded = sound(bytesMax: bytesMax * Self.soundShare)
        let least = encoded.map { Double($0.bitRate) / 8 * soundSeconds } ?? 0
        let share = isPressed ? Self.soundShare : Self.copiedShareMax
        // Encoded anew it would be worse, so it is copied where that takes no more.
        if canCopySound, cut == nil, Double(sounds.bytes) < max(bytesMax * share, least) { return .copied }
        return encoded.map { .encoded($0) } ?? .none
    }

    /// Seconds that are kept, where even the smallest sound would leave the pictures nothing; nil for all.
    var cut: Double? {
        guard let floor = sound(bytesMax: 0), soundSeconds > 0 else { return nil }
        let seconds = bytesMax * Self.soundShareMax / (Double(floor.bitRate) / 8)
        return seconds < scan.duration ? seconds : nil
    }

    /// Bytes that are left for the pictures.
    func videoBytes(beside sound: MoviePlan.Sound) -> Double {
        let seconds = min(soundSeconds, cut ?? .infinity)
        let sounds: Double
        switch sound {
        case .none: sounds = 0
        case .copied: sounds = Double(scan.sounds?.bytes ?? 0)
        case .encoded(let settings): sounds = Double(settings.bitRate) / 8 * seconds * 1.02
        }
        let share = cut.map { min(1, $0 / max(0.001, scan.duration)) } ?? 1
        return max(1_000, bytesMax * Limits.movieFillShare - sounds - overhead * share)
    }
}
