import LibAV
import RichPush

/// What a conversion has to know of a movie before it begins: one pass over all packets, nothing decoded.
struct MovieScan {
    let video: StreamDescription
    let pictures: StreamScan
    /// The sound stream that is kept: the first one that has something and can be decoded.
    let audio: StreamDescription?
    let sounds: StreamScan?
    let timeline: MovieTimeline
    /// Whether the file ended before its end, or something in it could not be read.
    let isBroken: Bool

    static func read(_ movie: OpenMovie, deadline: ContinuousClock.Instant) throws -> MovieScan {
        guard let video = movie.video, video.isDecodable else {
            throw AttachPrepError(
                .mediaUnsupported, "The movie has no pictures that we can decode; send an MP4 with H.264.")
        }
        var reading = Reading(movie, video, deadline)
        let isBroken = try reading.run()
        guard let pictures = reading.scans[video.index], pictures.shown > 0 else {
            throw AttachPrepError(.mediaCorrupt, "The movie holds no picture; send an intact file.")
        }
        let audio = movie.audio.first { $0.isDecodable && reading.scans[$0.index]?.shown ?? 0 > 0 }
        return MovieScan(
            video: video, pictures: pictures, audio: audio, sounds: audio.flatMap { reading.scans[$0.index] },
            timeline: reading.coverage(of: [video.index, audio?.index].compactMap { $0 }).timeline, isBroken: isBroken)
    }

    /// The pass itself.
    private struct Reading {
        private let movie: OpenMovie
        private let deadline: ContinuousClock.Instant
        private let clocks: [Int: (clock: FrameClock, stream: StreamDescription)]
        private var coverages: [Int: MovieCoverage] = [:]
        private(set) var scans: [Int: StreamScan] = [:]

        init(_ movie: OpenMovie, _ video: StreamDescription, _ deadline: ContinuousClock.Instant) {
            self.movie = movie
            self.deadline = deadline
            clocks = Dictionary(
                ([video] + movie.audio).map { ($0.index, (FrameClock(movie, $0), $0)) },
                uniquingKeysWith: { first, _ in first })
            movie.demuxer.discardStreams(except: Set(clocks.keys))
        }

        /// - Returns: Whether reading ended with a failure.
        mutating func run() throws -> Bool {
            let packet = try Packet()
            do {
                while try movie.demuxer.read(into: packet) {
                    try checkDeadline(deadline)
                    take(packet)
                }
                return false
            } catch let error as LibAVError {
                if error.isDeadline { throw error.corrupt }
                return true
            }
        }

        private mutating func take(_ packet: Packet) {
            guard let (clock, stream) = clocks[packet.streamIndex] else { return }
            let isPicture = stream.kind == .video
            let presentation =
                isPicture && movie.countsPackets && !clock.isKnown(packet)
                ? nil : packet.presentationTimestamp
            scans[stream.index, default: StreamScan()].take(
                packet, presentation: presentation, clock: clock, timeBase: stream.timeBase, isPicture: isPicture)
            guard !packet.isDiscarded, let tick = presentation ?? packet.decodingTimestamp else { return }
            coverages[stream.index, default: MovieCoverage()].take(
                start: clock.movieTime(ofTick: tick), duration: stream.timeBase.seconds(packet.duration))
        }

        func coverage(of streams: [Int]) -> MovieCoverage {
            streams.compactMap { coverages[$0] }.reduce(into: MovieCoverage()) { $0.join($1) }
        }
    }

    /// Seconds a picture is shown, on average.
    // Bounded throughout: floating point.
    var interval: Double { pictures.interval ?? video.frameRate.map { 1 / $0 } ?? 0.04 }

    /// Frames a second.
    // Bounded throughout: floating point.
    var frameRate: Double { 1 / max(interval, 1e-4) }

    /// Seconds of the new timeline at which the last picture ends.
    var end: Double {
        guard let last = pictures.last else { return 0 }
        return timeline.output(last) + pictures.lastDuration(otherwise: interval)
    }

    /// Seconds of the new timeline at which the last of picture and sound ends.
    var duration: Double { max(end, sounds?.end.map(timeline.output) ?? 0) }

    /// Share of the pictures' bytes that is shown before a time of the new timeline: where the source needs many bytes,
    /// so will we.
    func weights() -> [(time: Double, bytes: Int)] {
        pictures.weights.map { (timeline.output($0.time), $0.bytes) }.sorted { $0.time < $1.time }
    }

    /// Bytes of a picture of the source on average, in the seconds around a time of the new timeline.
    func bytesPerFrame(around time: Double, reach: Double) -> Double {
        let near = pictures.weights.filter { abs(timeline.output($0.time) - time) <= reach }
        return near.isEmpty ? 0 : Double(near.map(\.bytes).reduce(0, +)) / Double(near.count)
    }
}
