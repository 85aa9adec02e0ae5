import LibAV
import RichPush
import SafeArithmetic

/// One pass over all packets of a movie or sound: its true times, and whether it is whole.
final class MovieSurvey {
    private let movie: OpenMovie
    private let deadline: ContinuousClock.Instant
    private let isStrict: Bool
    private var spans: [Int: StreamSpan] = [:]
    private let structure: SampleStructure?
    private var pictures: PictureProof?
    private var sounds: [Int: SoundProof] = [:]
    private var longestFrame = 0
    private var lastFrameIsShort = false

    private let proof: ProofBudget?
    private var probe: DecodingProbe?
    private var brokenPackets: [Int: Int] = [:]

    /// The frame that was expected to be shown, and its time in the movie's own timeline; nil where it did not come
    /// along.
    private(set) var early: (frame: Frame, time: Double)?

    private init(
        _ movie: OpenMovie, proof: ProofBudget?, expecting expected: ExpectedFrame? = nil,
        deadline: ContinuousClock.Instant
    ) throws {
        self.movie = movie
        self.deadline = deadline
        self.proof = proof
        isStrict = proof != nil
        structure = movie.video.flatMap { SampleStructure($0, isISOBaseMedia: movie.isISOBaseMedia) }
        guard let proof else { return }
        if let video = movie.video, video.isDecodable {
            pictures = try readingMedia {
                try PictureProof(
                    video, of: movie.demuxer, structure: structure, budget: proof,
                    expecting: expected?.moment(in: movie, video))
            }
        }
        for stream in movie.audio where stream.isDecodable {
            sounds[stream.index] = try? SoundProof(stream, of: movie.demuxer)
        }
    }

    /// Reads the file to its end.
    ///
    /// - Parameter expected: A frame to be brought along if that costs little.
    /// - Throws: `media.corrupt` when a sample lies outside the file, a packet is short or what has to decode does not;
    ///   `media.too_long`.
    static func run(
        _ movie: OpenMovie, deadline: ContinuousClock.Instant, proof: ProofBudget,
        expecting expected: ExpectedFrame? = nil
    ) throws -> MovieSurvey {
        try checkIndex(movie)
        let survey = try MovieSurvey(movie, proof: proof, expecting: expected, deadline: deadline)
        let indexed = survey.indexedPictures
        try readingMedia(survey.readAll)
        if let video = movie.video, survey.spans[video.index]?.packets ?? 0 < indexed { throw hole }
        if survey.lastFrameIsShort { throw cut }
        try proof.spend { try survey.finishPictures(expected) }
        for sound in survey.sounds.values { try proof.spend(sound.finish) }
        return survey
    }

    /// Reads a broken file as far as it goes, and proves nothing.
    ///
    /// - Parameter probed: A stream of which it is to be known whether anything decodes.
    static func salvage(
        _ movie: OpenMovie, deadline: ContinuousClock.Instant, probing probed: StreamDescription? = nil
    ) throws -> MovieSurvey {
        let survey = try MovieSurvey(movie, proof: nil, deadline: deadline)
        survey.probe = try probed.map { stream in try readingMedia { try DecodingProbe(stream, of: movie.demuxer) } }
        do { try survey.readAll() } catch let error as LibAVError { if error.isDeadline { throw error.corrupt } }
        survey.probe?.finish()
        return survey
    }

    private func finishPictures(_ expected: ExpectedFrame?) throws {
        guard let pictures, let video = movie.video else { return }
        let seconds = duration.flatMap { expected?.seconds(duration: $0) }
        try pictures.finish(showing: seconds)
        early = pictures.found.flatMap { frame in
            frame.presentationTimestamp.map { (frame, FrameClock(movie, video).movieTime(ofTick: $0)) }
        }
    }

    /// Seconds until the last of pictures and sound ends.
    var duration: Double? {
        // Bounded: lists.
        let shown = [movie.video].compactMap { $0 } + movie.audio
        return shown.compactMap { times(of: $0)?.end }.max().map { max(0, $0).roundedToMicroseconds }
    }

    /// Whether something of the probed stream decodes.
    var decodes: Bool { probe?.decodes ?? false }

    /// The part of a stream's packets that were read and are not broken.
    func heldShare(of stream: StreamDescription) -> Double {
        let held = spans[stream.index]?.packets ?? 0
        return held == 0 ? 0 : Double(held) / Double(held + brokenPackets[stream.index, default: 0])
    }

    /// Presentation times of a stream, in seconds of the movie's own timeline.
    func times(of stream: StreamDescription) -> (first: Double, last: Double, end: Double)? {
        guard let span = spans[stream.index], let first = span.first, let last = span.last,
            let end = span.endSeconds(stream.timeBase, frameRate: stream.frameRate)
        else { return nil }
        let base = stream.timeBase
        // Bounded: floating point.
        return (base.seconds(first) - movie.origin, base.seconds(last) - movie.origin, end - movie.origin)
    }

    /// Whether anything of a stream is there.
    func holds(_ stream: StreamDescription) -> Bool { (spans[stream.index]?.packets ?? 0) > 0 }

    private static func checkIndex(_ movie: OpenMovie) throws {
        guard movie.isISOBaseMedia || movie.demuxer.name == "avi" else { return }
        for stream in movie.streams {
            if let end = movie.demuxer.indexedEnd(stream: stream.index), end > movie.demuxer.fileBytes { throw cut }
        }
    }

    /// Pictures that an AVI's index lists, less what its writers miscount; libav steps over what is not there.
    private var indexedPictures: Int {
        guard movie.demuxer.name == "avi", let video = movie.video else { return 0 }
        let count = movie.demuxer.indexedSamples(stream: video.index)
        // Bounded: a count of what is in memory; it becomes -1 at least.
        return count - count / Limits.indexedPicturesSlackShare - 1
    }

    private static let cut = AttachPrepError(
        .mediaCorrupt, "The file ends in the middle of its samples; send the whole file.")

    private func readAll() throws {
        let wanted = [movie.video?.index].compactMap { $0 } + movie.audio.map(\.index)
        movie.demuxer.discardStreams(except: Set(wanted))
        let packet = try Packet()
        while try next(packet) {
            guard let stream = movie.streams.first(where: { $0.index == packet.streamIndex }), stream.kind != .other
            else {
                continue
            }
            if movie.demuxer.name == "mp3", packet.isZeros { continue }
            let isCut = isCut(packet)
            let isHole = isHole(packet, of: stream)
            if isStrict, isCut || isHole { throw isCut ? Self.cut : Self.hole }
            if isCut || isHole { brokenPackets[stream.index, default: 0] += 1 } else { try take(packet, of: stream) }
            try checkDeadline(deadline)
        }
    }

    /// Transport streams mark every lost packet of a broadcast; those are seen, and converted. The last packet of a WAV
    /// that does not count its samples is marked, too; that those of other WAVs are there, `WaveWalk` has seen.
    private func isCut(_ packet: Packet) -> Bool {
        let name = movie.demuxer.name
        return packet.isCorrupt && name != "mpegts" && !(isStrict && name == "wav")
    }

    private func isHole(_ packet: Packet, of stream: StreamDescription) -> Bool {
        guard let structure, stream.index == movie.video?.index, packet.byteCount > 0 else { return false }
        return !structure.isIntact(packet)
    }

    private static let hole = AttachPrepError(
        .mediaCorrupt, "Samples are missing in the middle of the file; send the whole file.")

    /// The next packet; false at the end. Frames of MP3 and ADTS were walked before, and junk behind them is no end.
    private func next(_ packet: Packet) throws -> Bool {
        do {
            return try movie.demuxer.read(into: packet)
        } catch {
            if error.isDeadline || !["mp3", "aac"].contains(movie.demuxer.name) { throw error }
            return false
        }
    }

    private func take(_ packet: Packet, of stream: StreamDescription) throws {
        if !packet.isDiscarded {
            let time = displayTime(of: packet, stream: stream)
            spans[stream.index, default: StreamSpan()].take(
                time: time, duration: packet.duration, isEmpty: packet.byteCount == 0)
            // Bounded: floating point.
            if let time, stream.timeBase.seconds(time) - movie.origin > Limits.durationSecondsMax { throw tooLong }
        }
        // Frames of AC-3 are of one length, give or take a word; nothing else tells that the last one is cut.
        if movie.demuxer.name.hasSuffix("ac3") {
            lastFrameIsShort = packet.byteCount.adding(clamping: 2) < longestFrame
            longestFrame = max(longestFrame, packet.byteCount)
        }
        if stream.index == movie.video?.index { try proof?.spend { try pictures?.take(packet) } }
        if let sound = sounds[stream.index] { try proof?.spend { try sound.take(packet) } }
        probe?.take(packet)
    }

    private var tooLong: AttachPrepError {
        AttachPrepError(
            .mediaTooLong,
            "The file lasts longer than \(Int(Limits.durationSecondsMax / 3600)) hours; send a shorter one.")
    }

    private func displayTime(of packet: Packet, stream: StreamDescription) -> Int64? {
        if stream.kind == .video, movie.countsPackets {
            return packet.decodingTimestamp ?? packet.presentationTimestamp
        }
        if let time = packet.presentationTimestamp { return time }
        let delay = stream.kind == .video ? Int64(clamping: stream.reorderDelay) &* packet.duration : 0
        return packet.decodingTimestamp.map { $0 &+ delay }
    }
}
