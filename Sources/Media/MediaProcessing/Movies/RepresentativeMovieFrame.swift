import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Chooses the time of a movie's most representative frame.
enum RepresentativeMovieFrame {
    /// Part of the remaining time that the search may take.
    private static let timeShare = 0.35
    /// Movies tend to begin with logos or black and end with credits, so frames at the edges count less.
    private static let edgeShare = 0.06
    private static let edgeSecondsMax = 1.0
    private static let edgeWeight = 0.8

    /// Seconds on the movie's timeline; deterministic unless time runs short.
    ///
    /// - Throws: The errors of `FrameExtractor.decode`.
    static func time(descriptor: CInt, format: MediaFormat?, clock: WorkClock) throws -> Double {
        let time = clock.share(timeShare, until: clock.deadline)
        let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: clock.deadline)
        guard let stream = movie.video, stream.isDecodable else { throw FrameExtractor.unsupported }
        let duration = min(max(movie.demuxer.expectedDuration ?? 0, 0), Limits.durationSecondsMax)
        let probe = try readingMedia { try MovieFrameSampler(movie, stream, time: time) }
        var found = try readingMedia { try probe.keyframes(over: duration) }
        if best(found, duration: duration)?.score ?? 0 < FrameScore.good
            || found.count < MovieFrameSampler.keyframesWanted
        {
            found += try readingMedia { try probe.decoded(from: found.map(\.time), duration: duration) }
        }
        return best(found, duration: duration)?.time ?? 0
    }

    /// The candidate with the highest score, with a penalty at either end; of equal scores the first.
    static func best(_ candidates: [ScoredFrame], duration: Double) -> ScoredFrame? {
        let edge = min(edgeSecondsMax, duration * edgeShare)
        return candidates.map { candidate in
            let isAtEdge = candidate.time < edge || candidate.time > duration - edge
            return ScoredFrame(time: candidate.time, score: candidate.score * (isAtEdge ? edgeWeight : 1))
        }.sorted { $0.time < $1.time }.max { $0.score < $1.score }
    }
}

/// A frame that was scored.
struct ScoredFrame: Sendable, Hashable {
    /// Seconds on the movie's timeline.
    let time: Double
    let score: Double
}

/// Decodes frames spread over a movie at reduced size and scores them.
final class MovieFrameSampler {
    /// Number of sampled positions, spread over the duration.
    private static let positions = 9
    /// With fewer keyframes, frames between them are sampled as well.
    static let keyframesWanted = 4
    /// Longer side in pixels of a sampled frame.
    private static let side = 160
    /// Maximum packets read from a position to its keyframe: containers without an index seek to an earlier position.
    private static let packetsMax = 2_000
    /// Maximum pixels decoded between keyframes: some seconds of 1080p.
    private static let pixelsMax = 400_000_000
    /// Maximum frames sampled between keyframes.
    private static let samplesMax = 24.0

    private let movie: OpenMovie
    private let stream: StreamDescription
    private let time: WorkClock
    private let clock: FrameClock
    private let decoder: Decoder
    private let pixels: FramePixels

    init(_ movie: OpenMovie, _ stream: StreamDescription, time: WorkClock) throws {
        self.movie = movie
        self.stream = stream
        self.time = time
        clock = FrameClock(movie, stream)
        decoder = try Decoder.open(stream: stream.index, of: movie.demuxer, pixelsMax: Limits.moviePixelsMax)
        pixels = FramePixels(stream: stream, largestSide: Self.side)
        movie.demuxer.discardStreams(except: [stream.index])
    }

    private var isLate: Bool { time.secondsLeft <= 0 }

    /// Scored keyframes at positions spread over the duration, without duplicates.
    func keyframes(over duration: Double) throws -> [ScoredFrame] {
        var found: [ScoredFrame] = []
        var seen: Set<Int64> = []
        for position in 0..<Self.positions {
            if isLate, !found.isEmpty { break }
            let wanted = duration * (Double(position) + 0.5) / Double(Self.positions)
            guard try seek(to: wanted), let key = try nextKeyframe(), let tick = clock.presentation(key),
                seen.insert(tick).inserted
            else { continue }
            if let frame = try decodeAlone(key), let score = try score(of: frame) {
                found.append(ScoredFrame(time: max(0, clock.movieTime(ofTick: tick)), score: score))
            }
        }
        return found
    }

    /// Scored frames between keyframes, from each start time, or from the beginning if there are none.
    func decoded(from starts: [Double], duration: Double) throws -> [ScoredFrame] {
        var found: [ScoredFrame] = []
        let starts = starts.isEmpty ? [0] : starts
        let step = max(duration / Self.samplesMax, 0.1)
        for (index, start) in starts.enumerated() {
            if isLate { break }
            guard try seek(to: start) else { continue }
            let end = index + 1 < starts.count ? starts[index + 1] : .infinity
            found += try decodeOn(until: end, step: step, pixelsMax: Self.pixelsMax / starts.count)
        }
        return found
    }

    // MARK: Seeking and decoding

    private func seek(to seconds: Double) throws -> Bool {
        decoder.flush()
        return try movie.demuxer.seek(stream: stream.index, backwardTo: clock.tick(ofMovieTime: seconds))
    }

    private func next(_ packet: Packet) throws -> Bool {
        try checkDeadline(time.deadline)
        return try movie.demuxer.read(into: packet)
    }

    private func nextKeyframe() throws -> Packet? {
        let packet = try Packet()
        for _ in 0..<Self.packetsMax {
            guard try next(packet) else { return nil }
            let isWanted = packet.streamIndex == stream.index && packet.isKeyframe && !packet.isDiscarded
            if isWanted, packet.byteCount > 0 { return packet }
        }
        return nil
    }

    /// Decodes one packet; drains right after it, otherwise the decoder would wait for more packets.
    private func decodeAlone(_ packet: Packet) throws -> Frame? {
        let output = FrameOutput(decoder)
        decoder.flush()
        var found: Frame?
        for packet in [packet, nil] {
            try output.feed(packet) { frame in
                if found == nil { found = frame }
                return true
            }
        }
        decoder.flush()
        return found
    }

    private func decodeOn(until end: Double, step: Double, pixelsMax: Int) throws -> [ScoredFrame] {
        let output = FrameOutput(decoder)
        let packet = try Packet()
        var found: [ScoredFrame] = []
        var due = -Double.infinity
        var left = pixelsMax
        var previous: Int64?
        var failure: (any Error)?
        decoder.skipsNonReference = true
        defer { decoder.skipsNonReference = false }
        while left > 0, !isLate, due < end, failure == nil, try next(packet) {
            guard packet.streamIndex == stream.index, packet.byteCount > 0 else { continue }
            left = left.subtracting(clamping: stream.width.multiplied(clamping: stream.height))
            try output.feed(packet) { frame in
                let tick = clock.presentation(frame, after: previous)
                previous = tick
                let seconds = clock.movieTime(ofTick: tick)
                guard seconds >= due, seconds >= 0, !frame.isUnrecovered else { return true }
                due = seconds + step
                do {
                    if let score = try score(of: frame) { found.append(ScoredFrame(time: seconds, score: score)) }
                } catch { failure = error }
                return failure == nil
            }
        }
        if let failure { throw failure }
        return found
    }

    private func score(of frame: Frame) throws -> Double? {
        let decoded = try pixels.decodedFrame(of: frame, time: 0)
        guard decoded.width > 2, decoded.height > 2 else { return nil }
        return FrameScore(
            pixels: decoded.bytes, width: decoded.width, height: decoded.height, bands: decoded.bands
        ).value
    }
}
