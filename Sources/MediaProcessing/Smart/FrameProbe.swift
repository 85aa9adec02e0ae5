import LibAV
import RichPush
import SafeArithmetic

/// Looks at frames of a movie here and there, small, and says how they look.
final class FrameProbe {
    /// Places that are looked at, spread over the duration.
    private static let places = 9
    /// With fewer keyframes the pictures between them are looked at too.
    static let keyframesWanted = 4
    /// Pixels of the longer side of what is looked at.
    private static let side = 160
    /// Packets read from a place until its keyframe: containers without an index land before it.
    private static let packetsMax = 2_000
    /// Pixels decoded between keyframes: some seconds of 1080p.
    private static let pixelsMax = 400_000_000
    /// Frames looked at between keyframes.
    private static let looks = 24.0

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

    /// Keyframes at places spread over the duration, each once.
    func keyframes(over duration: Double) throws -> [ScoredFrame] {
        var found: [ScoredFrame] = []
        var seen: Set<Int64> = []
        for place in 0..<Self.places {
            if isLate, !found.isEmpty { break }
            let wanted = duration * (Double(place) + 0.5) / Double(Self.places)
            guard try seek(to: wanted), let key = try nextKeyframe(), let tick = clock.presentation(key),
                seen.insert(tick).inserted
            else { continue }
            if let frame = try decodeAlone(key), let score = try score(of: frame) {
                found.append(ScoredFrame(time: max(0, clock.movieTime(ofTick: tick)), score: score))
            }
        }
        return found
    }

    /// Frames between keyframes, from each of these times on, or from the start where there are none.
    func decoded(from starts: [Double], duration: Double) throws -> [ScoredFrame] {
        var found: [ScoredFrame] = []
        let starts = starts.isEmpty ? [0] : starts
        let step = max(duration / Self.looks, 0.1)
        for (index, start) in starts.enumerated() {
            if isLate { break }
            guard try seek(to: start) else { continue }
            // Bounded: a place in the list.
            let end = index + 1 < starts.count ? starts[index + 1] : .infinity
            // Bounded: a list, and at least one start.
            found += try decodeOn(until: end, step: step, pixelsMax: Self.pixelsMax / starts.count)
        }
        return found
    }

    // MARK: Ways to a frame

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

    /// The end is announced right behind it, else the decoder would hold it until more came.
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
                // Bounded: floating point.
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
        let picture = try pixels.picture(of: frame, time: 0)
        guard picture.width > 2, picture.height > 2 else { return nil }
        return FrameScore(
            pixels: picture.bytes, width: picture.width, height: picture.height, bands: picture.bands
        ).value
    }
}
