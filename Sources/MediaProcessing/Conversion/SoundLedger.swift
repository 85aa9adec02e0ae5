import LibAV

/// What the sound of a movie takes, compared with what was set aside for it.
///
/// Silence takes next to nothing; the pictures get what is left over.
// Bounded throughout: floating point.
final class SoundLedger {
    /// Seconds of sound after which its forecast is believed.
    private static let secondsMin = 0.5

    private let expected: Double
    private let duration: Double
    /// Written so far.
    var bytes = 0
    var seconds = 0.0

    /// - Parameter seconds: Of the whole movie.
    init(_ plan: MoviePlan, seconds: Double) {
        duration = seconds
        if case .encoded(let settings) = plan.sound {
            expected = Double(settings.bitRate) / 8 * seconds
        } else {
            expected = 0
        }
    }

    /// Of a movie without sound that is encoded.
    init() { (expected, duration) = (0, 0) }

    /// Bytes that will be left of what was set aside; negative when it was too little.
    var spare: Double {
        guard expected > 0, seconds > Self.secondsMin else { return 0 }
        let rest = max(0, duration - seconds)
        return expected - Double(bytes) - Double(bytes) / seconds * rest
    }
}
