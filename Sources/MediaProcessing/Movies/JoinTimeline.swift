import AttachPrepModel
import LibAV
import RichPush
import SafeArithmetic

/// The packet times of a run's video, or of its audio if it has no video.
struct RunScan {
    /// One packet, in decoding order; seconds by the run's own timestamps.
    struct Sample: Sendable, Hashable {
        var shown: Double
        var isKey: Bool
    }

    let number: Int
    let samples: [Sample]
    /// End of the last sample in seconds.
    let end: Double
    /// Nil for a run without video and audio.
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
            while try Self.read(packet, run.demuxer) {
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

    private static func read(_ packet: Packet, _ demuxer: Demuxer) throws -> Bool {
        do { return try demuxer.read(into: packet) } catch {
            if error.isDeadline { throw error.corrupt }
            return false
        }
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

    func isContinued(by other: StreamDescription) -> Bool {
        guard let stream else { return false }
        return stream.kind == other.kind && stream.codec == other.codec && stream.width == other.width
            && stream.height == other.height && stream.channels == other.channels
            && stream.sampleRate == other.sampleRate && stream.configuration == other.configuration
    }
}

/// Where the runs of a playlist lie in the joined movie, and which part of them is kept. Pure.
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
    /// Whether runs with other codecs were left out.
    let hasOmissions: Bool

    /// - Parameter isTail: Whether the last `seconds` are kept instead of the first.
    /// - Throws: `media.corrupt` when no run can be decoded.
    init(_ scans: [RunScan], seconds: Double, isTail: Bool) throws {
        let usable = scans.enumerated().filter { $0.element.firstKey != nil }
        let ordered = isTail ? usable.reversed() : usable
        guard let first = ordered.first?.element else {
            throw AttachPrepError(
                .mediaCorrupt, "The segments of the playlist contain no frames; check what the server sends.")
        }
        let kept = Array(ordered.prefix { first.isContinued(by: $0.element) })
        hasOmissions = kept.count < usable.count
        // Bounded throughout: floating point.
        var total = 0.0
        for (index, scan) in isTail ? kept.reversed() : kept {
            let key = scan.firstKey ?? 0
            let origin = scan.samples[key].shown
            runs.append(Run(index: index, scan: scan, firstPacket: key, origin: origin, shift: total - origin))
            total += max(0, scan.fullEnd - origin)
        }
        if isTail { begin(at: total - seconds) } else if total > seconds { end = seconds }
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
