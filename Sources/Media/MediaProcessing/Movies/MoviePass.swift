import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes

/// How the streams of a movie are written.
struct MoviePlan {
    enum Video {
        case copied
        case encoded(MovieChoice, RateController, firstFrame: Frame)
    }

    enum Audio: Hashable {
        case none
        case copied
        case encoded(AudioEncoderSettings)
    }

    var video: Video
    var audio: Audio
    /// Seconds kept; nil for all.
    var cut: Double?
}

struct MoviePassResult {
    var bytes: Int
    /// Duration in seconds.
    var duration: Double
    /// End of the video in seconds, if it was stopped for lack of time.
    var stoppedAt: Double?
    /// Final state of the rate controller, if video was encoded.
    var rateController: RateController?
    var videoBytes = 0
    /// Packets of the video, and seconds of the audio, that did not decode.
    var undecodablePackets = 0
    var undecodableSeconds = 0.0
}

/// Writes the movie once, from the first packet to the last.
struct MoviePass {
    let source: MovieSource
    let output: OutputFile
    let bytesMax: Int
    let clock: WorkClock
    let canRestart: Bool

    /// - Parameter indexBytes: Bytes to reserve for the index; nil moves the file to make space for it.
    func run(_ plan: MoviePlan, indexBytes: Int? = nil) throws -> MoviePassResult {
        var tracks: [any MovieTrack] = []
        let file = MP4File(output: output, bytesMax: bytesMax, clock: clock)
        func written(indexBytes: Int?) throws -> Int {
            try file.write(rateController: { (tracks.first as? EncodedVideoTrack)?.writer.rateController }) { muxer in
                let movie = try source.open()
                tracks = try self.tracks(plan, movie: movie, muxer: muxer)
                try muxer.writeHeader(indexBytes: indexBytes)
                try feed(tracks, from: movie)
            }
        }
        let bytes: Int
        do { bytes = try written(indexBytes: indexBytes) } catch MovieEncodeError.muxerFailed where indexBytes != nil {
            // The reserved space was too small for the index.
            bytes = try written(indexBytes: nil)
        }
        return describe(tracks, bytes: bytes, plan: plan)
    }

    private func tracks(_ plan: MoviePlan, movie: OpenMovie, muxer: Muxer) throws -> [any MovieTrack] {
        let scan = source.scan
        let audioUsage = AudioByteUsage(plan, seconds: min(plan.cut ?? .infinity, scan.duration))
        var tracks: [any MovieTrack] = []
        switch plan.video {
        case .copied:
            tracks.append(try copied(scan.video, scan: scan.videoScan, plan: plan, movie: movie, muxer: muxer))
        case .encoded(let choice, let rateController, let firstFrame):
            let watch = PassMonitor(
                clock, end: min(choice.cut ?? .infinity, scan.end), encodeSecondsPerFrame: choice.encodeSecondsPerFrame,
                canRestart: canRestart)
            tracks.append(
                try EncodedVideoTrack(
                    movie, source, choice, firstFrame: firstFrame, rateController: rateController, watch: watch,
                    audioUsage: audioUsage,
                    muxer: muxer))
        }
        guard let audio = scan.audio, let audioScan = scan.audioScan else { return tracks }
        switch plan.audio {
        case .none: break
        case .copied: tracks.append(try copied(audio, scan: audioScan, plan: plan, movie: movie, muxer: muxer))
        case .encoded(let settings):
            tracks.append(
                try EncodedAudioTrack(
                    movie, audio, timeline: scan.timeline, settings: settings, cut: plan.cut, audioUsage: audioUsage,
                    muxer: muxer))
        }
        return tracks
    }

    private func copied(
        _ stream: StreamDescription, scan: StreamScan, plan: MoviePlan, movie: OpenMovie, muxer: Muxer
    ) throws -> CopiedTrack {
        let track = try CopiedTrack(
            stream, of: movie, scan: scan, timeline: source.scan.timeline,
            configuration: stream.kind == .video ? source.scan.parameterSets?.completedConfiguration : nil,
            muxer: muxer)
        track.cut = plan.cut ?? .infinity
        return track
    }

    private func feed(_ tracks: [any MovieTrack], from movie: OpenMovie) throws {
        movie.demuxer.discardStreams(except: Set(tracks.map(\.source)))
        let packet = try Packet()
        while !isOver(tracks), try movie.demuxer.readLeniently(into: packet) {
            for track in tracks where track.source == packet.streamIndex && !track.isOver { try track.write(packet) }
        }
        try tracks.first?.finish()
        if let videoTrack = tracks.first as? EncodedVideoTrack, videoTrack.isStopped {
            for case let audio as EncodedAudioTrack in tracks { audio.stop(at: videoTrack.writer.end) }
        }
        for track in tracks.dropFirst() { try track.finish() }
    }

    /// Whether all tracks are complete. Audio continues after a planned cut of the video, but ends when the video is
    /// stopped for lack of time.
    private func isOver(_ tracks: [any MovieTrack]) -> Bool {
        if (tracks.first as? EncodedVideoTrack)?.isStopped == true { return true }
        return tracks.allSatisfy(\.isOver)
    }

    private func describe(_ tracks: [any MovieTrack], bytes: Int, plan: MoviePlan) -> MoviePassResult {
        let scan = source.scan
        let cut = plan.cut ?? .infinity
        var written = MoviePassResult(bytes: bytes, duration: min(scan.end, cut))
        for track in tracks {
            switch track {
            case let videoTrack as EncodedVideoTrack:
                written.duration = videoTrack.writer.end
                written.rateController = videoTrack.writer.rateController
                written.videoBytes = videoTrack.writer.bytesWritten
                written.undecodablePackets = videoTrack.undecodablePackets
                if videoTrack.isStopped { written.stoppedAt = videoTrack.writer.end }
            case let audio as EncodedAudioTrack:
                written.duration = max(written.duration, audio.end)
                written.undecodableSeconds = audio.undecodableSeconds
            default:
                if track.source == scan.audio?.index, written.stoppedAt == nil {
                    let end = scan.audioScan?.end.map(scan.timeline.output) ?? 0
                    written.duration = max(written.duration, min(cut, end))
                }
            }
        }
        return written
    }
}

/// Why a pass produced no file.
enum MovieEncodeError: Error {
    /// The file would exceed the byte limit; holds the state of the rate controller.
    case overLimit(RateController?)
    /// The muxer rejects the streams.
    case muxerFailed(LibAVError)
    /// The pass would take this many times the remaining time.
    case behind(Double)
}

/// Writes an MP4 file.
struct MP4File {
    let output: OutputFile
    let bytesMax: Int
    let clock: WorkClock

    /// Writes what `body` sends to the muxer; overwrites what an earlier call wrote.
    ///
    /// - Parameter rateController: Returns the current rate controller, for `MovieEncodeError.overLimit`.
    /// - Returns: File size in bytes.
    func write(rateController: () -> RateController?, _ body: (Muxer) throws -> Void) throws -> Int {
        let written = try readingMedia {
            try DescriptorOutput.open(output.descriptor, bytesMax: bytesMax, deadline: clock.deadline)
        }
        do {
            let muxer = try Muxer.open(.mpeg4, into: written)
            try body(muxer)
            return try muxer.finish()
        } catch let error as LibAVError {
            switch written.writeError {
            case .overLimit: throw MovieEncodeError.overLimit(rateController())
            case .deadline:
                throw AttachPrepError(
                    .deadlineExceeded, "The time for the request ran out while the movie was written.")
            case .system(let code): throw OutputFile.failure(code)
            case nil: throw MovieEncodeError.muxerFailed(error)
            }
        }
    }
}

/// Checks whether an encoding pass keeps up with the remaining time.
struct PassMonitor: Sendable {
    enum Status: Sendable, Hashable {
        case fine
        /// The pass would take this many times the remaining time.
        case behind(Double)
        /// The pass has to end now to leave a complete file in time.
        case late
    }

    /// Part of the movie before which the pace is not reliable, and after which a restart saves no time.
    private static let earliest = 0.04
    private static let latest = 0.35
    /// Seconds of work over which the pace is measured. A pass is given up after two such periods in a row: a machine
    /// that was slow for half a second need not stay slow.
    private static let windowSeconds = 0.4
    /// Seconds reserved for the index, the answer, and a busy machine.
    private static let reserve = 0.15
    /// Safety factor for the encoding time of frames that the encoder still holds.
    private static let caution = 2.0
    /// Ratio of expected to remaining time above which a pass is given up.
    private static let patience = 1.08

    private let clock: WorkClock
    private let start: Double
    /// Duration of the output in seconds.
    private let end: Double
    private let canRestart: Bool
    /// Measured seconds to encode one frame.
    private let encodeSecondsPerFrame: Double
    /// Where the current measurement began, in seconds of the movie and of work.
    private var window: (share: Double, time: Double)
    private var isBehind = false

    init(_ clock: WorkClock, end: Double, encodeSecondsPerFrame: Double, canRestart: Bool) {
        self.encodeSecondsPerFrame = encodeSecondsPerFrame
        self.clock = clock
        self.end = end
        self.canRestart = canRestart
        start = clock.secondsSpent
        window = (0, start)
    }

    mutating func check(at writer: VideoWriter, time: Double) -> Status {
        check(framesSent: writer.framesSent, framesWritten: writer.framesWritten, time: time)
    }

    /// - Parameter time: Seconds of the movie encoded so far.
    mutating func check(framesSent: Int, framesWritten: Int, time: Double) -> Status {
        let spent = clock.secondsSpent - start
        let left = clock.secondsLeft
        let pace = min(encodeSecondsPerFrame * Self.caution, spent / Double(max(1, framesSent)))
        let held = Double(framesSent - framesWritten)
        if left < Self.reserve + held * pace { return .late }
        let share = end > 0 ? time / end : 1
        let seconds = clock.secondsSpent - window.time
        guard canRestart, seconds >= Self.windowSeconds else { return .fine }
        let progress = max(share - window.share, 1e-6)
        let rest = (1 - share) * seconds / progress
        let wasBehind = isBehind
        isBehind = rest > left * Self.patience
        window = (share, clock.secondsSpent)
        guard isBehind, wasBehind, (Self.earliest...Self.latest).contains(share) else { return .fine }
        return .behind(rest / left)
    }
}
