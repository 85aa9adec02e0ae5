import AttachPrepModel
import LibAV
import MediaEngine
import RichPush
import SafeArithmetic

/// The packet times of a run's video, or of its audio if it has no video.
struct RunScan {
    /// One packet, in decoding order; seconds by the run's own timestamps.
    struct Sample: Sendable, Hashable {
        var shown: Double
        var isKey: Bool
    }

    /// Number of the discontinuity before it.
    let number: Int
    let samples: [Sample]
    /// End of the last sample in seconds.
    let end: Double
    /// The video, or the audio if there is none; nil for a run without both.
    private let stream: StreamDescription?

    init(_ run: OpenRun, number: Int, _ deadline: ContinuousClock.Instant) throws {
        self.number = number
        stream = run.main
        var samples: [Sample] = []
        var end = -Double.infinity
        var last: Double?
        if let stream {
            run.demuxer.discardStreams(except: [stream.index])
            let packet = try readingMedia { try Packet() }
            while try run.demuxer.readLeniently(into: packet) {
                try checkDeadline(deadline)
                guard packet.streamIndex == stream.index, packet.byteCount > 0 else { continue }
                let tick = packet.presentationTimestamp ?? packet.decodingTimestamp
                // Bounded throughout: floating point.
                let shown = tick.map(stream.timeBase.seconds) ?? last ?? 0
                samples.append(Sample(shown: shown, isKey: packet.isKeyframe))
                end = max(end, shown + stream.timeBase.seconds(packet.duration))
                last = shown
            }
        }
        self.samples = samples
        self.end = end
    }

    /// The first sample that can be decoded.
    var firstKey: Int? { samples.firstIndex(where: \.isKey) }

    /// The end of the last frame; with the average duration of a frame where the last one has none.
    // Bounded throughout: floating point.
    var fullEnd: Double {
        let times = samples.map(\.shown)
        guard let first = times.min(), let last = times.max(), end <= last, samples.count > 1 else { return end }
        return last + (last - first) / Double(samples.count - 1)
    }

    /// Whether the packets of both runs can follow each other in one track.
    func isContinued(by other: RunScan) -> Bool { other.stream.map(isContinued) ?? false }

    func isContinued(by other: StreamDescription) -> Bool { stream?.isContinued(by: other) ?? false }

    /// From the first frame that can be decoded to the end.
    var seconds: Double {
        // Bounded: floating point.
        firstKey.map { max(0, fullEnd - samples[$0].shown) } ?? 0
    }

    /// For people.
    var format: String { stream?.format ?? "" }
}

extension StreamDescription {
    /// Whether the packets of both streams can follow each other in one track.
    func isContinued(by other: StreamDescription) -> Bool {
        kind == other.kind && codec == other.codec && width == other.width && height == other.height
            && channels == other.channels && sampleRate == other.sampleRate && configuration == other.configuration
    }

    /// Codec and size, or codec and sample rate, for people.
    var format: String {
        kind == .video ? "\(codec) \(width) x \(height)" : "\(codec) \(channels) x \(sampleRate) Hz"
    }
}

/// Where the runs of a playlist lie in the joined movie, and which part of them is kept. Pure.
///
/// One track has one format, and nothing is encoded. So runs of one format are kept: of a live stream that of the last
/// run, since its last seconds are wanted; of any other the one with the most seconds, so that an advertisement before
/// or within a movie is left out and the movie continues after it.
struct JoinTimeline {
    /// A run that is kept.
    struct Run {
        /// Position in the track.
        let index: Int
        let scan: RunScan
        /// Number of the first packet that is written.
        let firstPacket: Int
        /// Its time in seconds by the run's own timestamps; nothing earlier is written.
        let origin: Double
        /// Seconds to add to the run's timestamps.
        let shift: Double
    }

    private(set) var runs: [Run] = []
    /// Seconds at which the movie ends; nil for the end of the last run.
    private(set) var end: Double?
    /// The format of the kept runs.
    let format: String
    /// The other runs, by format.
    let omissions: [JoinedMedia.Omission]

    /// - Parameter isTail: Whether the last `seconds` are kept instead of the first.
    /// - Throws: `media.corrupt` when no run can be decoded.
    init(_ scans: [RunScan], seconds: Double, isTail: Bool) throws {
        let usable = scans.enumerated().filter { $0.element.firstKey != nil }
        guard let chosen = Self.chosen(usable.map(\.element), isTail: isTail) else {
            throw AttachPrepError(
                .mediaCorrupt, "The segments of the playlist contain no frames; check what the server sends.")
        }
        format = chosen.format
        omissions = usable.map(\.element).filter { !chosen.isContinued(by: $0) }.reduce(into: []) { list, scan in
            list.add(scan.seconds, of: scan.format, isAudio: false)
        }
        // Bounded throughout: floating point.
        var total = 0.0
        for (index, scan) in usable where chosen.isContinued(by: scan) {
            let key = scan.firstKey ?? 0
            let origin = scan.samples[key].shown
            runs.append(Run(index: index, scan: scan, firstPacket: key, origin: origin, shift: total - origin))
            total += scan.seconds
        }
        if isTail { begin(at: total - seconds) } else if total > seconds { end = seconds }
    }

    /// A run of the format to keep.
    private static func chosen(_ usable: [RunScan], isTail: Bool) -> RunScan? {
        if isTail { return usable.last }
        // Bounded: floating point.
        let seconds = usable.map { one in usable.reduce(0) { $0 + (one.isContinued(by: $1) ? $1.seconds : 0) } }
        // The first of several with the same duration.
        return zip(usable, seconds).first { $0.1 == seconds.max() }?.0
    }

    /// Moves the beginning to the last keyframe at or before a time.
    // Bounded throughout: floating point, and indices of lists in memory.
    private mutating func begin(at time: Double) {
        guard time > 0 else { return }
        var start: (run: Int, packet: Int, time: Double)?
        for (number, run) in runs.enumerated() {
            for (packet, sample) in run.scan.samples.enumerated() where sample.isKey && packet >= run.firstPacket {
                let joined = sample.shown + run.shift
                if joined <= time + Self.slackSeconds, joined >= start?.time ?? 0 { start = (number, packet, joined) }
            }
        }
        guard let start else { return }
        runs = runs.dropFirst(start.run).enumerated().map { number, run in
            let first = number == 0 ? start.packet : run.firstPacket
            return Run(
                index: run.index, scan: run.scan, firstPacket: first, origin: run.scan.samples[first].shown,
                shift: run.shift - start.time)
        }
    }

    /// Playlists and timestamps are rounded to milliseconds.
    private static let slackSeconds = 0.002
}

extension [JoinedMedia.Omission] {
    /// Counts seconds of a format that are left out.
    mutating func add(_ seconds: Double, of format: String, isAudio: Bool) {
        if let index = firstIndex(where: { $0.format == format && $0.isAudio == isAudio }) {
            self[index].seconds += seconds  // Bounded: floating point.
        } else {
            append(JoinedMedia.Omission(seconds: seconds, format: format, isAudio: isAudio))
        }
    }
}
