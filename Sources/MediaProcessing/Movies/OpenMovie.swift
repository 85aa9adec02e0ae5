import LibAV
import RichPush

/// An open movie or sound: its streams, the one that is shown, and where its timeline begins.
struct OpenMovie {
    let demuxer: Demuxer
    let streams: [StreamDescription]
    /// The first picture stream that is not cover art; one we can decode before one we cannot.
    private(set) var video: StreamDescription?
    let audio: [StreamDescription]
    /// The container's time, in seconds, that is 0 of the movie's own timeline.
    let origin: Double

    /// Opens a file and reads as far as its codecs and rates are known.
    ///
    /// - Parameters:
    ///   - isRecognized: Whether it is known to be a movie or a sound, so that what cannot be opened is damaged.
    ///   - isForCopy: Whether nothing will be decoded, so that the word of an MP4's header is enough.
    ///   - arrival: Where the file is still written to.
    /// - Throws: `media.unrecognized` or `media.corrupt` when no demuxer takes it, `media.too_many_pixels` before
    ///   anything is decoded.
    static func open(
        _ descriptor: CInt, format: MediaFormat?, isRecognized: Bool, isForCopy: Bool = false,
        arrival: Arrival? = nil, deadline: ContinuousClock.Instant
    ) throws -> OpenMovie {
        let demuxer = try demuxer(
            descriptor, format: format, isRecognized: isRecognized, arriving: arrival?.bytes, deadline: deadline)
        try demuxer.streams.forEach(checkPixels)
        let bytesMax = isForCopy && isISOBaseMedia(demuxer) ? 1 : nil
        do { try demuxer.findStreamInformation(pixelsMax: Limits.moviePixelsMax, bytesMax: bytesMax) } catch {
            throw error.corrupt
        }
        let movie = OpenMovie(demuxer)
        try movie.streams.forEach(checkPixels)
        return movie
    }

    private init(_ demuxer: Demuxer) {
        self.demuxer = demuxer
        streams = demuxer.streams
        let pictures = streams.filter { $0.kind == .video && !$0.isAttachedPicture }
        video = pictures.first { $0.isDecodable } ?? pictures.first
        audio = streams.filter { $0.kind == .audio }
        // In MP4 and QuickTime the edit list has placed everything; 0 is 0.
        origin = Self.isISOBaseMedia(demuxer) ? 0 : demuxer.startTime ?? 0
    }

    static func isISOBaseMedia(_ demuxer: Demuxer) -> Bool { demuxer.name.hasPrefix("mov,") }

    var isISOBaseMedia: Bool { Self.isISOBaseMedia(demuxer) }

    /// Whether the container knows no presentation times, only the order of decoding: libav then counts from the first
    /// packet, and its pictures come late by the reorder delay.
    var countsPackets: Bool { demuxer.name == "avi" || demuxer.name == "mpegvideo" }

    /// A picture track without a picture is none, if there is sound.
    mutating func leaveOutEmptyVideo(_ survey: MovieSurvey) {
        if let stream = video, !survey.holds(stream), audio.contains(where: survey.holds) { video = nil }
    }

    /// Whether there is a picture, or sound where there are no pictures.
    func holdsSamples(_ survey: MovieSurvey) -> Bool {
        video.map(survey.holds) ?? audio.contains(where: survey.holds)
    }

    private static func checkPixels(_ stream: StreamDescription) throws {
        guard stream.kind == .video, !stream.isAttachedPicture else { return }
        // As stored, and as shown: a few stored pixels may be declared to be very wide.
        let (displayed, stored) = (DisplayGeometry(stream), stream.width.multipliedReportingOverflow(by: stream.height))
        let isOver =
            stored.overflow || max(stored.partialValue, displayed.pixels) > Limits.moviePixelsMax
            || max(displayed.width, displayed.height) > Limits.pictureSidePixelsMax
        guard isOver else { return }
        throw AttachPrepError(
            .mediaTooManyPixels,
            "The movie is \(displayed.width) x \(displayed.height), over \(Limits.moviePixelsMax) pixels; send a "
                + "smaller one.")
    }

    /// The container alone: its header is read, nothing more.
    static func demuxer(
        _ descriptor: CInt, format: MediaFormat?, isRecognized: Bool, arriving: ArrivingBytes? = nil,
        deadline: ContinuousClock.Instant
    ) throws -> Demuxer {
        do {
            return try demuxer(descriptor, format: format, arriving: arriving, deadline: deadline)
        } catch {
            if isRecognized {
                throw error.fault(.mediaCorrupt, "The file is damaged or incomplete; send an intact one.")
            }
            throw error.fault(.mediaUnrecognized, "The file is no movie and no sound we know.")
        }
    }

    private static func demuxer(
        _ descriptor: CInt, format: MediaFormat?, arriving: ArrivingBytes?, deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> Demuxer {
        if let forced = format.flatMap(forcedDemuxer),
            let opened = try? Demuxer.open(descriptor, demuxer: forced, deadline: deadline)
        {
            return opened
        }
        return try Demuxer.open(descriptor, demuxer: nil, arriving: arriving, deadline: deadline)
    }

    /// Sounds without a magic number, which libav's probe takes for something else when tags stand in front, and
    /// pictures it may take for sound.
    private static func forcedDemuxer(_ format: MediaFormat) -> String? {
        switch format {
        case .mp3, .mp2: "mp3"
        case .aac: "aac"
        case .ac3: "ac3"
        case .eac3: "eac3"
        case .mpegTransportStream: "mpegts"
        default: nil
        }
    }
}

extension Arrival {
    /// The same for libav; nil where the length of the whole is not known.
    fileprivate var bytes: ArrivingBytes? {
        total.map { ArrivingBytes(total: $0) { [self] in waitForMore() } }
    }
}
