import LibAV
package import MediaEngine
package import RichPush

/// What a movie or a sound is, and whether it is sound.
package enum MovieInspection {
    /// Reads the file once from end to end and decodes its first and last pictures and samples.
    ///
    /// - Parameters:
    ///   - descriptor: A complete, seekable file; borrowed.
    ///   - format: Identification's word; nil leaves it to the demuxers' probes.
    /// - Throws: `media.unrecognized`, `media.unsupported`, `media.corrupt`, `media.encrypted`,
    ///   `media.too_many_pixels`, `media.too_long`, `deadline.exceeded`: early, so that time is left to do something.
    package static func inspect(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> InspectedMedia {
        try inspect(descriptor: descriptor, format: format, arrival: nil, expecting: nil, deadline: deadline).media
    }

    /// The same, with a frame that is expected to be shown, where that came along.
    ///
    /// - Parameter arrival: Where the file is still written to. What is wrong with it then is for an inspection of the
    ///   whole to say; one whose index comes last is given up at once.
    static func inspect(
        descriptor: CInt, format: MediaFormat?, arrival: Arrival?, expecting expected: ExpectedThumbnail?,
        deadline: ContinuousClock.Instant
    ) throws -> (media: InspectedMedia, early: DecodedPicture?) {
        let clock = WorkClock(deadline: deadline)
        // Bounded: a part of the time until the deadline.
        let end = clock.start + clock.start.duration(to: deadline) * Limits.inspectionTimeShare
        do {
            return try inspectWhole(
                descriptor, format: format, arrival: arrival, expecting: expected.map(ExpectedFrame.init),
                deadline: end, proof: ProofBudget(clock))
        } catch let fault as AttachPrepError where fault.code == .mediaCorrupt && arrival == nil {
            guard let media = try MovieSalvage.repairable(descriptor: descriptor, format: format, deadline: end) else {
                throw fault
            }
            return (media, nil)
        }
    }

    private static func inspectWhole(
        _ descriptor: CInt, format: MediaFormat?, arrival: Arrival?, expecting expected: ExpectedFrame?,
        deadline: ContinuousClock.Instant, proof: ProofBudget
    ) throws -> (InspectedMedia, DecodedPicture?) {
        let window = try ByteWindow(
            descriptor: descriptor, noun: noun(format), arrival: arrival, deadline: deadline)
        if window.size == 0 { throw AttachPrepError(.mediaEmpty, "The file is empty.") }
        let container = try Container(window)
        if arrival != nil { try checkOrder(container, window) }
        let (boxes, fault) = try container?.check(window) ?? (nil, nil)
        if boxes?.isEncrypted == true { throw encrypted }
        var movie = try OpenMovie.open(
            descriptor, format: format, isRecognized: format != nil || container != nil, arrival: arrival,
            deadline: deadline)
        if isEncrypted(movie) { throw encrypted }
        let head = try window.characters(at: 0, count: min(64, window.size))
        guard let declared = movie.format(hint: format, boxes: boxes, head: head) else { throw unsupported }
        try checkFrames(declared, window)
        try checkPlayable(movie)
        let survey = try MovieSurvey.run(movie, deadline: deadline, proof: proof, expecting: expected)
        movie.leaveOutEmptyVideo(survey)
        guard let found = movie.format(hint: format, boxes: boxes, head: head) else { throw unsupported }
        if !movie.holdsSamples(survey) { throw window.cut }
        var media = movie.describe(as: found, survey: survey)
        media.isProved = !proof.isSpent
        media.containerFault = fault
        try checkDuration(media, movie)
        return (media, expected?.picture(survey, movie))
    }

    /// Only a movie whose index comes before its samples can be read while it arrives.
    private static func checkOrder(_ container: Container?, _ window: ByteWindow) throws {
        guard container == .isoBaseMedia, try BoxWalk.hasIndexInFront(window) else {
            throw AttachPrepError(.internal, "The movie cannot be worked on while it arrives.")
        }
    }

    private static func noun(_ format: MediaFormat?) -> String {
        format.map { $0.kind == .audio ? "sound" : "movie" } ?? "file"
    }

    static let encrypted = AttachPrepError(
        .mediaEncrypted, "The file is protected (DRM); send one that plays everywhere.")
    private static let unsupported = AttachPrepError(
        .mediaUnsupported, "The file holds neither pictures nor sound that we can decode; send an MP4 or an MP3.")

    /// Windows Media and Matroska say so in their headers.
    static func isEncrypted(_ movie: OpenMovie) -> Bool {
        let keys = Set(movie.demuxer.metadata.keys)
        return !keys.isDisjoint(with: ["ASF_Protection_Type", "ASF_Key_ID", "ASF_License_URL"])
            || movie.streams.contains { $0.metadata["enc_key_id"] != nil }
    }

    private static func checkFrames(_ format: MediaFormat, _ window: ByteWindow) throws {
        switch format {
        case .mp3, .mp2: _ = try MP3Walk.walk(window)
        case .aac: _ = try ADTSWalk.walk(window)
        case .mpeg1Video, .mpeg2Video: try VideoSequenceWalk.check(window)
        default: break
        }
    }

    static func checkPlayable(_ movie: OpenMovie) throws {
        if let video = movie.video, video.isDecodable, video.width > 0, video.height > 0 { return }
        if movie.video == nil, movie.audio.contains(where: \.isDecodable) { return }
        throw unsupported
    }

    /// A header that counts its samples exactly must be kept.
    private static func checkDuration(_ media: InspectedMedia, _ movie: OpenMovie) throws {
        guard ["flac", "wv", "tta", "w64", "caf", "au"].contains(movie.demuxer.name),
            let stream = movie.audio.first,
            let declared = stream.declaredDuration.map(stream.timeBase.seconds), let held = media.duration
        else { return }
        // Bounded: floating point.
        if held < declared * Limits.declaredDurationShareMin - Limits.declaredDurationSlackSeconds {
            throw AttachPrepError(.mediaCorrupt, "The sound ends in the middle; send the whole file.")
        }
    }
}
