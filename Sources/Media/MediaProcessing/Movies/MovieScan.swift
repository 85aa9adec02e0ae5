import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Facts about a movie that a conversion needs: one pass over all packets, without decoding.
struct MovieScan {
    let video: StreamDescription
    let videoScan: StreamScan
    /// Parameter sets of the video in its sample entry and in its samples; nil for codecs without.
    let parameterSets: ParameterSetScan?
    /// The audio stream that is kept: the first decodable one with samples.
    let audio: StreamDescription?
    let audioScan: StreamScan?
    let timeline: MovieTimeline
    /// Whether reading ended early with an error.
    let isBroken: Bool
    /// Video and audio that the result does not have.
    let omittedTracks: [OmittedTrack]

    static func read(_ movie: OpenMovie, deadline: ContinuousClock.Instant) throws -> MovieScan {
        guard let video = movie.video, video.isDecodable else {
            throw AttachPrepError(
                .mediaUnsupported, "The movie has no video that can be decoded; send an MP4 with H.264.")
        }
        var reading = Reading(movie, video, deadline)
        let isBroken = try reading.run()
        guard let videoScan = reading.scans[video.index], videoScan.shown > 0 else {
            throw AttachPrepError(.mediaCorrupt, "The movie contains no video frames; send an intact file.")
        }
        let audio = movie.audio.first { $0.isDecodable && reading.scans[$0.index]?.shown ?? 0 > 0 }
        return MovieScan(
            video: video, videoScan: videoScan, parameterSets: reading.parameterSets, audio: audio,
            audioScan: audio.flatMap { reading.scans[$0.index] },
            timeline: reading.coverage(of: [video.index, audio?.index].compactMap { $0 }).timeline, isBroken: isBroken,
            omittedTracks: reading.omitted(from: movie, keeping: audio))
    }

    /// The pass over the packets.
    private struct Reading {
        private let movie: OpenMovie
        private let deadline: ContinuousClock.Instant
        private let clocks: [Int: (clock: FrameClock, stream: StreamDescription)]
        private var coverages: [Int: MovieCoverage] = [:]
        private(set) var scans: [Int: StreamScan] = [:]
        private(set) var parameterSets: ParameterSetScan?

        init(_ movie: OpenMovie, _ video: StreamDescription, _ deadline: ContinuousClock.Instant) {
            self.movie = movie
            self.deadline = deadline
            parameterSets = ParameterSetScan(video)
            clocks = Dictionary(
                ([video] + movie.audio).map { ($0.index, (FrameClock(movie, $0), $0)) },
                uniquingKeysWith: { first, _ in first })
            movie.demuxer.discardStreams(except: Set(clocks.keys))
        }

        /// - Returns: Whether reading ended with an error.
        mutating func run() throws -> Bool {
            let packet = try Packet()
            do {
                while try movie.demuxer.read(into: packet) {
                    try checkDeadline(deadline)
                    record(packet)
                }
                return false
            } catch let error as LibAVError {
                if error.isDeadline { throw error.corrupt }
                return true
            }
        }

        private mutating func record(_ packet: Packet) {
            guard let (clock, stream) = clocks[packet.streamIndex] else { return }
            let isVideo = stream.kind == .video
            if isVideo { parameterSets?.record(packet) }
            let presentation =
                isVideo && movie.countsPackets && !clock.isKnown(packet)
                ? nil : packet.presentationTimestamp
            scans[stream.index, default: StreamScan()].record(
                packet, presentation: presentation, clock: clock, timeBase: stream.timeBase, isVideo: isVideo)
            guard !packet.isDiscarded, let tick = presentation ?? packet.decodingTimestamp else { return }
            coverages[stream.index, default: MovieCoverage()].record(
                start: clock.movieTime(ofTick: tick), duration: stream.timeBase.seconds(packet.duration))
        }

        /// Tracks with samples other than the video and the audio that is kept.
        func omitted(from movie: OpenMovie, keeping audio: StreamDescription?) -> [OmittedTrack] {
            var omitted: [OmittedTrack] = movie.otherVideos.map { OmittedTrack($0) }
            for stream in movie.audio where stream.index != audio?.index {
                guard let scan = scans[stream.index], scan.packets > 0 else { continue }
                omitted.append(OmittedTrack(stream))
            }
            return omitted
        }

        func coverage(of streams: [Int]) -> MovieCoverage {
            streams.compactMap { coverages[$0] }.reduce(into: MovieCoverage()) { $0.join($1) }
        }
    }

    /// Average frame duration in seconds.
    var interval: Double { videoScan.interval ?? video.frameRate.map { 1 / $0 } ?? 0.04 }

    /// Frames per second.
    var frameRate: Double { 1 / max(interval, 1e-4) }

    /// End of the last frame in seconds on the output timeline.
    var end: Double {
        guard let last = videoScan.last else { return 0 }
        return timeline.output(last) + videoScan.lastDuration(otherwise: interval)
    }

    /// End of the last video or audio sample in seconds on the output timeline.
    var duration: Double { max(end, audioScan?.end.map(timeline.output) ?? 0) }

    /// Time and bytes of each frame on the output timeline: parts that need many bytes in the source also need many in
    /// the output.
    func weights() -> [(time: Double, bytes: Int)] {
        videoScan.weights.map { (timeline.output($0.time), $0.bytes) }.sorted { $0.time < $1.time }
    }

    /// Average bytes per source frame within `reach` seconds of a time on the output timeline.
    func bytesPerFrame(around time: Double, reach: Double) -> Double {
        let near = videoScan.weights.filter { abs(timeline.output($0.time) - time) <= reach }
        return near.isEmpty ? 0 : Double(near.map(\.bytes).reduce(0, +)) / Double(near.count)
    }
}

/// Facts from one pass over a stream's packets.
struct StreamScan {
    /// Where an edit list hides packets.
    enum Hiding: Sendable, Hashable {
        case none
        /// From this packet to the end. Packets hidden at the beginning do not matter.
        case tail(Int)
        case middle
    }

    private(set) var packets = 0
    /// Non-empty packets that are presented.
    private(set) var shown = 0
    private(set) var bytes = 0
    /// Seconds on the movie's timeline.
    private(set) var first: Double?
    private(set) var last: Double?
    private(set) var end: Double?
    private(set) var hiding = Hiding.none
    /// Ticks in decoding order; kept for video only.
    private(set) var presentations: [Int64] = []
    private(set) var decodings: [Int64] = []
    private(set) var isPresentationKnown = true
    /// Time and bytes of each presented packet.
    private(set) var weights: [(time: Double, bytes: Int)] = []
    private var lastDuration = 0.0

    mutating func record(_ packet: Packet, presentation: Int64?, clock: FrameClock, timeBase: TimeBase, isVideo: Bool) {
        if packet.byteCount == 0 { return }
        bytes = bytes.adding(clamping: packet.byteCount)
        recordVisibility(isHidden: packet.isDiscarded)
        packets += 1
        if presentation == nil { isPresentationKnown = false }
        if isVideo {
            presentations.append(presentation ?? 0)
            decodings.append(packet.decodingTimestamp ?? Int64.min)
        }
        let fallback = end ?? 0
        let time = (presentation ?? packet.decodingTimestamp).map(clock.movieTime) ?? fallback
        if packet.isDiscarded { return }
        shown += 1
        if isVideo { weights.append((time, packet.byteCount)) }
        let duration = timeBase.seconds(packet.duration)
        first = min(first ?? time, time)
        if time >= last ?? time {
            last = time
            lastDuration = duration
        }
        end = max(end ?? time, time + duration)
    }

    private mutating func recordVisibility(isHidden: Bool) {
        switch hiding {
        case .none where isHidden && shown > 0: hiding = .tail(packets)
        case .tail where !isHidden: hiding = .middle
        default: break
        }
    }

    /// Average time between two frames in seconds.
    var interval: Double? {
        guard let first, let last, shown > 1, last > first else { return nil }
        return (last - first) / Double(shown - 1)
    }

    /// Duration of the last frame in seconds; the average if the declared one is missing or implausible.
    func lastDuration(otherwise usual: Double) -> Double {
        let average = interval ?? usual
        let isAbsurd = lastDuration > 30 && lastDuration > average * 20
        return lastDuration <= 0 || isAbsurd ? average : lastDuration
    }

    /// Strictly increasing decoding times that are never later than the presentation times: the container's if valid,
    /// otherwise derived from the presentation times. Nil if those are unknown or not unique.
    var validDecodingTimes: [Int64]? {
        guard isPresentationKnown, !presentations.isEmpty else { return nil }
        if areValid(decodings) { return decodings }
        let sorted = presentations.sorted()
        let delay = zip(sorted, presentations).map { $0.subtracting(clamping: $1) }.max() ?? 0
        let made = sorted.map { $0.subtracting(clamping: delay) }
        return areValid(made) ? made : nil
    }

    private func areValid(_ times: [Int64]) -> Bool {
        zip(times, presentations).allSatisfy { $0 != Int64.min && $0 <= $1 }
            && zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
    }
}

/// The movie's timeline without gaps in which neither video nor audio is presented.
///
/// Paused recorders and wrong timestamps leave gaps of minutes or hours, in which a player would freeze.
struct MovieTimeline: Sendable, Hashable {
    struct Gap: Sendable, Hashable {
        let start: Double
        let length: Double
    }

    let gaps: [Gap]

    /// Converts to seconds on the output timeline.
    func output(_ seconds: Double) -> Double { seconds - shift(at: seconds) }

    /// Seconds by which a time is moved forward.
    func shift(at seconds: Double) -> Double {
        gaps.reduce(0) { seconds >= $1.start + $1.length - MovieCoverage.slotSeconds ? $0 + $1.length : $0 }
    }
}

/// The parts of a timeline in which video or audio is presented, in slots of half a second.
struct MovieCoverage {
    static let slotSeconds = 0.5
    /// Maximum duration in seconds that is accepted for one sample.
    private static let sampleSecondsMax = 30.0

    private var slots: Set<Int> = []
    private var latest = Int.min

    mutating func record(start: Double, duration: Double) {
        guard start.isFinite, abs(start) < 1e9 else { return }
        let end = start + min(Self.sampleSecondsMax, max(0, duration))
        let first = Self.slot(start)
        for slot in first...max(first, Self.slot(end)) where slot != latest {
            slots.insert(slot)
            latest = slot
        }
    }

    mutating func join(_ other: MovieCoverage) { slots.formUnion(other.slots) }

    private static func slot(_ seconds: Double) -> Int {
        Int(clamping: (seconds / slotSeconds).rounded(.down))
    }

    /// The timeline with all gaps closed that are longer than `Limits.movieGapSecondsMax`.
    var timeline: MovieTimeline {
        var gaps: [MovieTimeline.Gap] = []
        var covered = -1
        for slot in slots.sorted() where slot > covered {
            let length = Double(slot - covered - 1) * Self.slotSeconds
            if length > Limits.movieGapSecondsMax {
                gaps.append(.init(start: Double(covered + 1) * Self.slotSeconds, length: length))
            }
            covered = slot
        }
        return MovieTimeline(gaps: gaps)
    }
}

extension Limits {
    /// Longer gaps with neither video nor audio are closed.
    static let movieGapSecondsMax = 10.0
}
