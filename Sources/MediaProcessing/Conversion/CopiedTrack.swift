import LibAV
import SafeArithmetic

/// A stream of a movie on its way into the new file.
protocol MovieTrack: AnyObject {
    /// The stream in the source.
    var source: Int { get }
    /// Takes the stream's next packet.
    func take(_ packet: Packet) throws
    /// Writes what is still held.
    func finish() throws
    /// Whether nothing more is wanted.
    var isOver: Bool { get }
}

/// A stream whose packets are copied bit by bit.
final class CopiedTrack: MovieTrack {
    let source: Int
    private let target: Int
    private let muxer: Muxer
    private let stream: StreamDescription
    private let scan: StreamScan
    private let timeline: MovieTimeline
    private let origin: Int64
    private let clock: FrameClock
    private let decodingTimes: [Int64]?
    private let lastShown: Int?
    private var position = 0
    private var end: Int64 = 0
    /// Time of the last packet of sound that was written.
    private var latest: Int64?

    init(_ stream: StreamDescription, of movie: OpenMovie, scan: StreamScan, timeline: MovieTimeline, muxer: Muxer)
        throws
    {
        self.stream = stream
        self.scan = scan
        self.timeline = timeline
        self.muxer = muxer
        source = stream.index
        target = try muxer.addStream(copyingFrom: movie.demuxer, stream.index)
        clock = FrameClock(movie, stream)
        origin = stream.timeBase.nearestTick(movie.origin)
        decodingTimes = stream.kind == .video ? scan.soundDecodingTimes : nil
        lastShown = scan.presentations.indices.max { scan.presentations[$0] < scan.presentations[$1] }
    }

    let isOver = false
    /// Seconds of the new timeline from which on nothing is written.
    var cut = Double.infinity

    func take(_ packet: Packet) throws {
        if packet.byteCount == 0 { return }
        defer { position += 1 }
        if case .tail(let first) = scan.hiding, position >= first { return }
        let copy = try packet.reference()
        if packet.isCorrupt || isCut(packet) { return }
        if stream.kind == .video { timePicture(copy) } else { timeSound(copy) }
        try muxer.write(copy, stream: target, timeBase: stream.timeBase)
    }

    func finish() throws {}

    private func timePicture(_ packet: Packet) {
        guard let times = decodingTimes, position < times.count else { return }
        let presentation = scan.presentations[position]
        let shift = shift(at: presentation)
        packet.presentationTimestamp = presentation.subtracting(clamping: shift)
        packet.decodingTimestamp = times[position].subtracting(clamping: shift)
        if position == lastShown || packet.duration > stream.timeBase.ticks(30) {
            packet.duration = stream.timeBase.nearestTick(scan.lastDuration(otherwise: 0.04))
        }
    }

    private func timeSound(_ packet: Packet) {
        let presentation = packet.presentationTimestamp ?? packet.decodingTimestamp ?? end
        // No muxer takes a time that does not grow.
        let next = latest.map { $0.adding(clamping: 1) } ?? .min
        let time = max(presentation.subtracting(clamping: shift(at: presentation)), next)
        packet.presentationTimestamp = time
        packet.decodingTimestamp = time
        latest = time
        end = presentation.adding(clamping: packet.duration)
    }

    private func isCut(_ packet: Packet) -> Bool {
        guard cut < .infinity, let tick = packet.presentationTimestamp ?? packet.decodingTimestamp else { return false }
        return timeline.output(clock.movieTime(ofTick: tick)) >= cut
    }

    /// Ticks that a packet comes earlier in the new file.
    private func shift(at tick: Int64) -> Int64 {
        origin.adding(clamping: stream.timeBase.nearestTick(timeline.shift(at: clock.movieTime(ofTick: tick))))
    }
}

extension TimeBase {
    /// The tick nearest to a time.
    // Bounded throughout: floating point.
    func nearestTick(_ seconds: Double) -> Int64 { ticks(seconds + tick / 2) }
}
