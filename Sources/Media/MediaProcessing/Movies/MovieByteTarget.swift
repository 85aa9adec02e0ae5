import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Divides the bytes of a movie between video, audio and index.
struct MovieByteTarget {
    /// Audio bits per second beside encoded video, if the byte limit allows it.
    private static let audioBitRate = 128_000
    /// Share of a tight limit that audio may take, and the maximum share when its bit rate is already the minimum.
    private static let audioShare = 0.15
    private static let audioShareMax = 0.6
    /// Share that copied audio may take.
    private static let copiedShareMax = 0.2

    private let scan: MovieScan
    private let rendition: MovieRendition

    init(_ scan: MovieScan, _ rendition: MovieRendition) {
        self.scan = scan
        self.rendition = rendition
    }

    private var bytesMax: Double { Double(rendition.bytesMax) }
    private var audioSeconds: Double { scan.audioScan?.end.map(scan.timeline.output) ?? 0 }

    /// Bytes of the source's video and audio packets.
    private var mediaBytes: Int { scan.videoScan.bytes.adding(clamping: scan.audioScan?.bytes ?? 0) }

    /// Whether the output has to be smaller than the source; it may then use all bytes at good quality.
    var isPressed: Bool {
        Double(mediaBytes) > bytesMax * Limits.movieFillShare
    }

    /// Bytes of the index and the headers.
    var overhead: Double {
        let audioPackets = max(Double(scan.audioScan?.packets ?? 0), (audioSeconds * 48).rounded(.towardZero))
        return Double(scan.videoScan.packets) * Double(Limits.movieIndexBytesPerFrame)
            + audioPackets * Double(Limits.movieIndexBytesPerAudioPacket) + Double(Limits.movieHeaderBytes)
    }

    /// Bytes of a copy above which space is reserved for the index, because moving the file would cost more.
    private static let movedBytesMax = 4_000_000

    /// Bytes to reserve for the index of a copy; nil where moving the file is cheaper than the unused reserve.
    var indexReserve: Int? {
        mediaBytes > Self.movedBytesMax ? Int(clamping: overhead) : nil
    }

    /// Whether the audio stream can be copied, judged by its packets.
    var canCopyAudio: Bool {
        guard rendition.copiesAudio, let audioScan = scan.audioScan, let audio = scan.audio else { return false }
        if let max = rendition.audioBitRateMax, audioSeconds > 0,
            Double(audioScan.bytes) * 8 / audioSeconds > Double(max) * 1.1
        {
            return false
        }
        return audioScan.hiding != .middle && !(audio.codec == "aac" && audio.sampleRate == 0)
    }

    /// Audio settings at normal quality.
    var fullAudio: AudioEncoderSettings? { audio(bytesMax: .infinity) }

    /// Audio settings for at most this many bytes, not below the minimum bit rate.
    func audio(bytesMax: Double) -> AudioEncoderSettings? {
        guard let audio = scan.audio else { return nil }
        let rate = min(Self.audioBitRate, rendition.audioBitRateMax ?? .max)
        let ladder = AudioLadder(
            duration: max(0.1, audioSeconds), channels: audio.channels, sampleRate: audio.sampleRate,
            sourceBitRate: audio.bitRate, bytesMax: Int(clamping: min(1e12, max(0, bytesMax))), bitRateMax: rate)
        return ladder.best.settings(.m4a)
    }

    /// How audio is written beside encoded video.
    var audioBesideEncoded: MoviePlan.Audio {
        guard scan.audio != nil, let audioScan = scan.audioScan else { return .none }
        let encoded = audio(bytesMax: bytesMax * Self.audioShare)
        let least = encoded.map { Double($0.bitRate) / 8 * audioSeconds } ?? 0
        let share = isPressed ? Self.audioShare : Self.copiedShareMax
        // Encoding would lose quality, so the audio is copied if that takes no more bytes.
        if canCopyAudio, cut == nil, Double(audioScan.bytes) < max(bytesMax * share, least) { return .copied }
        return encoded.map { .encoded($0) } ?? .none
    }

    /// Seconds kept where even the smallest audio would leave no bytes for video; nil for all.
    var cut: Double? {
        guard let floor = audio(bytesMax: 0), audioSeconds > 0 else { return nil }
        let seconds = bytesMax * Self.audioShareMax / (Double(floor.bitRate) / 8)
        return seconds < scan.duration ? seconds : nil
    }

    /// Bytes left for the video.
    func videoBytes(beside audio: MoviePlan.Audio) -> Double {
        let seconds = min(audioSeconds, cut ?? .infinity)
        let audioBytes: Double
        switch audio {
        case .none: audioBytes = 0
        case .copied: audioBytes = Double(scan.audioScan?.bytes ?? 0)
        case .encoded(let settings): audioBytes = Double(settings.bitRate) / 8 * seconds * 1.02
        }
        let share = cut.map { min(1, $0 / max(0.001, scan.duration)) } ?? 1
        return max(1_000, bytesMax * Limits.movieFillShare - audioBytes - overhead * share)
    }
}

extension Limits {
    /// The share of a size limit that rate control aims for; the rest covers its inaccuracy.
    static let movieFillShare = 0.955
    /// Index bytes per video frame and per audio packet, in the worst case.
    static let movieIndexBytesPerFrame = 24
    static let movieIndexBytesPerAudioPacket = 8
    /// Bytes of everything other than samples and index.
    static let movieHeaderBytes = 4_096
}
