import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Reads all packets of a movie or audio file once: determines its real times and whether it is complete.
final class PacketInspection {
    private let movie: OpenMovie
    private let deadline: ContinuousClock.Instant
    private let isStrict: Bool
    /// By the stream's index.
    private let tracks: [Track]
    private let structure: NALUnitValidator?
    /// Parameter sets of the video in its sample entry and in its samples; nil for other codecs.
    private(set) var parameterSets: ParameterSetScan?
    private var videoValidator: FrameValidator?
    private let isMP3: Bool
    private let isAC3: Bool
    private var longestFrame = 0
    private var lastFrameIsShort = false

    private let validation: ValidationTimer?
    private var probe: DecodingProbe?

    /// What is known of one stream; a class, because it is looked up for every packet.
    private final class Track {
        let stream: StreamDescription
        /// Whether it is audio, or the movie's video.
        let isWanted: Bool
        let isVideo: Bool
        var span = StreamSpan()
        var brokenPackets = 0
        var audioValidator: AudioValidator?

        init(_ stream: StreamDescription, of movie: OpenMovie) {
            self.stream = stream
            isWanted = stream.kind != .other
            isVideo = stream.index == movie.video?.index
        }
    }

    /// The expected frame and its time on the movie's timeline; nil if it was not decoded.
    private(set) var early: (frame: Frame, time: Double)?

    private init(
        _ movie: OpenMovie, validation: ValidationTimer?, expecting expected: ExpectedFrame? = nil,
        deadline: ContinuousClock.Instant
    ) throws {
        self.movie = movie
        self.deadline = deadline
        self.validation = validation
        isStrict = validation != nil
        tracks = movie.streams.map { Track($0, of: movie) }
        isMP3 = movie.demuxer.name == "mp3"
        isAC3 = movie.demuxer.name.hasSuffix("ac3")
        structure = movie.video.flatMap { NALUnitValidator($0, isISOBaseMedia: movie.isISOBaseMedia) }
        parameterSets = movie.video.flatMap(ParameterSetScan.init)
        guard let validation else { return }
        if let video = movie.video, video.isDecodable {
            videoValidator = try readingMedia {
                try FrameValidator(
                    video, of: movie.demuxer, structure: structure, timer: validation,
                    expecting: expected?.expectedTime(in: movie, video))
            }
        }
        let playable = Set(movie.audio.map(\.index))
        for track in tracks where playable.contains(track.stream.index) && track.stream.isDecodable {
            track.audioValidator = try? AudioValidator(track.stream, of: movie.demuxer)
        }
    }

    /// Reads the file to its end.
    ///
    /// - Parameter expected: A frame to decode as well, if that costs little.
    /// - Throws: `media.corrupt` when a sample lies outside of the file, a packet is truncated or a validated part does
    ///   not decode; `media.too_long`.
    static func run(
        _ movie: OpenMovie, deadline: ContinuousClock.Instant, validation: ValidationTimer,
        expecting expected: ExpectedFrame? = nil
    ) throws -> PacketInspection {
        try checkIndex(movie)
        let packetInspection = try PacketInspection(
            movie, validation: validation, expecting: expected, deadline: deadline)
        let indexed = packetInspection.indexedFrames
        try readingMedia(packetInspection.readAll)
        if let video = movie.video, packetInspection.packets(of: video) < indexed { throw missingData }
        if packetInspection.lastFrameIsShort { throw truncated }
        try validation.spend { try packetInspection.finishVideo(expected) }
        for validator in packetInspection.tracks.compactMap(\.audioValidator) { try validation.spend(validator.finish) }
        return packetInspection
    }

    /// Reads a damaged file as far as possible, without validation.
    ///
    /// - Parameter probed: A stream to be checked for whether anything of it decodes.
    static func recovered(
        _ movie: OpenMovie, deadline: ContinuousClock.Instant, probing probed: StreamDescription? = nil
    ) throws -> PacketInspection {
        let packetInspection = try PacketInspection(movie, validation: nil, deadline: deadline)
        packetInspection.probe = try probed.map { stream in
            try readingMedia { try DecodingProbe(stream, of: movie.demuxer) }
        }
        do { try packetInspection.readAll() } catch let error as LibAVError {
            if error.isDeadline { throw error.corrupt }
        }
        packetInspection.probe?.finish()
        return packetInspection
    }

    private func finishVideo(_ expected: ExpectedFrame?) throws {
        guard let videoValidator, let video = movie.video else { return }
        let seconds = duration.flatMap { expected?.seconds(duration: $0) }
        try videoValidator.finish(showing: seconds)
        early = videoValidator.found.flatMap { frame in
            frame.presentationTimestamp.map { (frame, FrameClock(movie, video).movieTime(ofTick: $0)) }
        }
    }

    /// End of the last video or audio sample in seconds.
    var duration: Double? {
        let shown = [movie.video].compactMap { $0 } + movie.audio
        return shown.compactMap { times(of: $0)?.end }.max().map { max(0, $0).roundedToMicroseconds }
    }

    /// The decoders of the streams that were validated, by the index of the stream.
    var decoders: [Int: Decoder] {
        var decoders = tracks.reduce(into: [:]) { $0[$1.stream.index] = $1.audioValidator?.decoder }
        if let video = movie.video { decoders[video.index] = videoValidator?.usedDecoder }
        return decoders
    }

    /// Whether any of the probed stream decodes.
    var decodes: Bool { probe?.decodes ?? false }

    /// Share of a stream's packets that were read and are intact.
    func heldShare(of stream: StreamDescription) -> Double {
        let held = packets(of: stream)
        return held == 0 ? 0 : Double(held) / Double(held + (track(stream.index)?.brokenPackets ?? 0))
    }

    private func track(_ index: Int) -> Track? { tracks.indices.contains(index) ? tracks[index] : nil }

    private func packets(of stream: StreamDescription) -> Int { track(stream.index)?.span.packets ?? 0 }

    /// First, last and end presentation time of a stream, in seconds on the movie's timeline.
    func times(of stream: StreamDescription) -> (first: Double, last: Double, end: Double)? {
        guard let span = track(stream.index)?.span, let first = span.first, let last = span.last,
            let end = span.endSeconds(stream.timeBase, frameRate: stream.frameRate)
        else { return nil }
        let base = stream.timeBase
        return (base.seconds(first) - movie.origin, base.seconds(last) - movie.origin, end - movie.origin)
    }

    /// Whether a stream has any packets.
    func holds(_ stream: StreamDescription) -> Bool { packets(of: stream) > 0 }

    private static func checkIndex(_ movie: OpenMovie) throws {
        guard movie.isISOBaseMedia || movie.demuxer.name == "avi" else { return }
        for stream in movie.streams {
            if let end = movie.demuxer.indexedEnd(stream: stream.index), end > movie.demuxer.fileBytes {
                throw truncated
            }
        }
    }

    /// Number of frames in an AVI's index, less a tolerance for inaccurate writers; libav skips missing frames
    /// silently.
    private var indexedFrames: Int {
        guard movie.demuxer.name == "avi", let video = movie.video else { return 0 }
        let count = movie.demuxer.indexedSamples(stream: video.index)
        return count - count / Limits.indexedFramesSlackShare - 1
    }

    private static let truncated = AttachPrepError(
        .mediaCorrupt, "The file is truncated within its samples; send the complete file.")

    private func readAll() throws {
        let wanted = [movie.video?.index].compactMap { $0 } + movie.audio.map(\.index)
        movie.demuxer.discardStreams(except: Set(wanted))
        let packet = try Packet()
        if isStrict, let middle = UnreadMiddle(movie) {
            try read(packet, countMax: Limits.unreadMiddleMarginPackets)
            let first = track(middle.stream)?.span.end
            if let first, first < middle.end, try seek(middle.stream, to: middle.end) {
                try read(packet)
                // Without a packet there, the header declares more than the file has: the middle is read as well.
                guard track(middle.stream)?.span.end == first, try seek(middle.stream, to: first) else { return }
            }
        }
        try read(packet)
    }

    private func seek(_ stream: Int, to tick: Int64) throws -> Bool {
        try movie.demuxer.seek(stream: stream, backwardTo: tick)
    }

    /// Reads up to `countMax` packets, or to the end of the file.
    private func read(_ packet: Packet, countMax: Int = .max) throws {
        var count = 0
        while count < countMax, try next(packet) {
            count += 1
            guard let track = track(packet.streamIndex), track.isWanted else { continue }
            if isMP3, packet.isZeros { continue }
            // A recorder that was stopped leaves a part of a sample.
            if movie.demuxer.name == "wav", track.stream.codec.hasPrefix("pcm_"), packet.duration == 0 { continue }
            let isCut = isCut(packet)
            let isStructureDamaged = isStructureDamaged(packet, of: track)
            if isStrict, isCut || isStructureDamaged { throw isCut ? Self.truncated : Self.missingData }
            if isCut || isStructureDamaged { track.brokenPackets += 1 } else { try record(packet, of: track) }
            try checkDeadline(deadline)
        }
    }

    /// Whether a packet is truncated. Transport streams mark every lost packet of a broadcast; such files are accepted
    /// and converted. The last packet of a WAV without a sample count is marked, too; `WaveParser` has checked other
    /// WAVs.
    private func isCut(_ packet: Packet) -> Bool {
        guard packet.isCorrupt else { return false }
        let name = movie.demuxer.name
        return name != "mpegts" && !(isStrict && name == "wav")
    }

    private func isStructureDamaged(_ packet: Packet, of track: Track) -> Bool {
        guard let structure, track.isVideo, packet.byteCount > 0 else { return false }
        return !structure.isIntact(packet)
    }

    private static let missingData = AttachPrepError(
        .mediaCorrupt, "Samples are missing in the middle of the file; send the complete file.")

    /// Reads the next packet; false at the end. MP3 and ADTS frames are already checked, so junk after them is not an
    /// error.
    private func next(_ packet: Packet) throws -> Bool {
        do {
            return try movie.demuxer.read(into: packet)
        } catch {
            if error.isDeadline || !["mp3", "aac"].contains(movie.demuxer.name) { throw error }
            return false
        }
    }

    private func record(_ packet: Packet, of track: Track) throws {
        if !packet.isDiscarded {
            let time = displayTime(of: packet, in: track)
            track.span.record(time: time, duration: packet.duration, isEmpty: packet.byteCount == 0)
            if let time, track.stream.timeBase.seconds(time) - movie.origin > Limits.durationSecondsMax {
                throw tooLong
            }
        }
        // AC-3 frames have one length, within one word; nothing else reveals that the last one is truncated.
        if isAC3 {
            lastFrameIsShort = packet.byteCount.adding(clamping: 2) < longestFrame
            longestFrame = max(longestFrame, packet.byteCount)
        }
        if track.isVideo {
            parameterSets?.record(packet)
            try validation?.spend { try videoValidator?.consume(packet) }
        }
        if let validator = track.audioValidator {
            if validator.isAtStart {
                try validation?.spend { try validator.consume(packet) }
            } else {
                try validator.consume(packet)
            }
        }
        probe?.consume(packet)
    }

    private var tooLong: AttachPrepError {
        AttachPrepError(
            .mediaTooLong,
            "The file lasts longer than \(Int(Limits.durationSecondsMax / 3600)) hours; send a shorter one.")
    }

    private func displayTime(of packet: Packet, in track: Track) -> Int64? {
        let isVideo = track.stream.kind == .video
        if isVideo, movie.countsPackets {
            return packet.decodingTimestamp ?? packet.presentationTimestamp
        }
        if let time = packet.presentationTimestamp { return time }
        let delay = isVideo ? Int64(clamping: track.stream.reorderDelay) &* packet.duration : 0
        return packet.decodingTimestamp.map { $0 &+ delay }
    }
}

/// Presentation times of one stream's packets, in ticks of its time base.
struct StreamSpan: Sendable {
    /// A last sample that is longer than this many average samples is a writer's error, not a still frame.
    private static let absurdLastDuration = 20.0

    private(set) var packets = 0
    private(set) var first: Int64?
    private(set) var last: Int64?
    private(set) var end: Int64?
    private var lastDuration: Int64 = 0

    /// Adds a packet's time; a packet without one starts at the end of the previous packet.
    mutating func record(time: Int64?, duration: Int64, isEmpty: Bool) {
        let time = time ?? end ?? 0
        let stop = time.adding(clamping: duration)
        if !isEmpty {
            packets += 1
            first = min(first ?? time, time)
            if time >= last ?? time {
                last = time
                lastDuration = duration
            }
        }
        end = max(end ?? stop, stop)
    }

    /// End of the stream in seconds, from its samples: a missing or implausible duration of the last one is replaced by
    /// the average.
    func endSeconds(_ timeBase: TimeBase, frameRate: Double?) -> Double? {
        guard let first, let last, let end else { return nil }
        let average = packets > 1 ? (timeBase.seconds(last) - timeBase.seconds(first)) / Double(packets - 1) : 0
        let interval = average > 0 ? average : frameRate.map { 1 / $0 } ?? 0
        let duration = timeBase.seconds(lastDuration)
        let isAbsurd = interval > 0 && duration > 30 && duration > interval * Self.absurdLastDuration
        if lastDuration == 0 || isAbsurd { return timeBase.seconds(last) + interval }
        return timeBase.seconds(end)
    }
}

/// Checks whether any of a damaged stream decodes: one frame without errors, or one block of audio samples.
final class DecodingProbe {
    private let decoder: Decoder
    private let frame: Frame
    private var packets = 0
    private(set) var decodes = false

    init(_ stream: StreamDescription, of demuxer: Demuxer) throws {
        decoder = try Decoder.open(
            stream: stream.index, of: demuxer, pixelsMax: stream.kind == .video ? Limits.moviePixelsMax : 1)
        self.stream = stream.index
        frame = try Frame()
    }

    private let stream: Int

    /// Processes any packet of the file.
    func consume(_ packet: Packet) {
        if decodes || packet.streamIndex != stream || packet.byteCount == 0 { return }
        packets += 1
        if packets <= Limits.undecodablePacketsMax { feed(packet) }
    }

    /// Drains the decoder; call it after the last packet.
    func finish() { if !decodes { feed(nil) } }

    private func feed(_ packet: Packet?) {
        do {
            _ = try decoder.send(packet)
            while !decodes, try decoder.receive(into: frame) == .frame {
                decodes = !frame.isConcealed && !frame.isUnrecovered
            }
        } catch {
            // The next packet may decode.
        }
    }
}

extension Limits {
    /// One in this many frames of an AVI's index may be missing in the file.
    static let indexedFramesSlackShare = 50
    /// Packets after which a damaged stream is abandoned when nothing has decoded.
    static let undecodablePacketsMax = 200
}
