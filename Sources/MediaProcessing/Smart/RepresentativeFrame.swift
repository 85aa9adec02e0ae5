import LibAV
import RichPush

/// The moment of a movie that stands best for it.
enum RepresentativeFrame {
    /// The part of the time that looking for it may take.
    private static let share = 0.35
    /// Logos and black stand first, credits last.
    private static let edgeShare = 0.06
    private static let edgeSecondsMax = 1.0
    private static let edgeWeight = 0.8

    /// Seconds of the movie's own timeline; deterministic unless time runs short.
    ///
    /// - Throws: As `MovieFrame.decode`.
    static func time(descriptor: CInt, format: MediaFormat?, clock: WorkClock) throws -> Double {
        let time = clock.share(share, until: clock.deadline)
        let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: clock.deadline)
        guard let stream = movie.video, stream.isDecodable else { throw MovieFrame.unsupported }
        let duration = min(max(movie.demuxer.expectedDuration ?? 0, 0), Limits.durationSecondsMax)
        let probe = try readingMedia { try FrameProbe(movie, stream, time: time) }
        var found = try readingMedia { try probe.keyframes(over: duration) }
        if best(found, duration: duration)?.score ?? 0 < FrameScore.good || found.count < FrameProbe.keyframesWanted {
            // Bounded: a list.
            found += try readingMedia { try probe.decoded(from: found.map(\.time), duration: duration) }
        }
        return best(found, duration: duration)?.time ?? 0
    }

    /// The highest score, what stands at either end counting less; of equals the first.
    // Bounded throughout: floating point.
    static func best(_ candidates: [ScoredFrame], duration: Double) -> ScoredFrame? {
        let edge = min(edgeSecondsMax, duration * edgeShare)
        return candidates.map { candidate in
            let isAtEdge = candidate.time < edge || candidate.time > duration - edge
            return ScoredFrame(time: candidate.time, score: candidate.score * (isAtEdge ? edgeWeight : 1))
        }.sorted { $0.time < $1.time }.max { $0.score < $1.score }
    }
}

/// A frame that was looked at.
struct ScoredFrame: Sendable, Hashable {
    /// Seconds of the movie's own timeline.
    let time: Double
    let score: Double
}
