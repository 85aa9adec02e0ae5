import AttachPrepModel
package import MediaEngine
import MediaLibraries
package import MediaTypes

/// Describes a movie or audio file and checks whether it is intact.
package enum MovieInspection {
    /// Reads the whole file once and decodes its first and last frames and audio packets.
    ///
    /// - Parameters:
    ///   - descriptor: A complete, seekable file; borrowed.
    ///   - format: The identified format; nil leaves detection to the demuxers.
    /// - Throws: `media.unrecognized`, `media.unsupported`, `media.corrupt`, `media.encrypted`,
    ///   `media.too_many_pixels`, `media.too_long`, or `deadline.exceeded`, early enough to leave time for a fallback.
    package static func inspect(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> InspectedMedia {
        try inspect(descriptor: descriptor, format: format, download: nil, expecting: nil, deadline: deadline).media
    }

    /// Inspects a file and also returns the expected frame, if inspection decoded it.
    ///
    /// - Parameter download: Set while the file is still being written. Errors are then preliminary: the complete file
    ///   is inspected again. A movie whose index comes last is rejected at once.
    static func inspect(
        descriptor: CInt, format: MediaFormat?, download: DownloadingFile?, expecting expected: ExpectedThumbnail?,
        deadline: ContinuousClock.Instant
    ) throws -> (media: InspectedMedia, early: DecodedFrame?) {
        let clock = WorkClock(deadline: deadline)
        let end = clock.start + clock.start.duration(to: deadline) * Limits.inspectionTimeShare
        do {
            return try inspectWhole(
                descriptor, format: format, download: download, expecting: expected.map(ExpectedFrame.init),
                deadline: end, validation: ValidationTimer(clock))
        } catch let error as AttachPrepError where error.code == .mediaCorrupt && download == nil {
            guard let media = try MovieRecovery.repairable(descriptor: descriptor, format: format, deadline: end) else {
                throw error
            }
            return (media, nil)
        }
    }

    private static func inspectWhole(
        _ descriptor: CInt, format: MediaFormat?, download: DownloadingFile?, expecting expected: ExpectedFrame?,
        deadline: ContinuousClock.Instant, validation: ValidationTimer
    ) throws -> (InspectedMedia, DecodedFrame?) {
        let window = try ByteWindow(
            descriptor: descriptor, noun: noun(format), download: download, deadline: deadline)
        if window.size == 0 { throw AttachPrepError(.mediaEmpty, "The file is empty.") }
        let container = try MediaContainer(window)
        if download != nil { try checkOrder(container, in: window) }
        let (boxes, defect) = try container?.check(window) ?? (nil, nil)
        if boxes?.isEncrypted == true { throw encrypted }
        var movie = try OpenMovie.open(
            descriptor, format: format, isRecognized: format != nil || container != nil, isForValidation: true,
            download: download, deadline: deadline)
        if isEncrypted(movie) { throw encrypted }
        let head = try window.characters(at: 0, count: min(64, window.size))
        guard let declared = movie.format(hint: format, boxes: boxes, head: head) else { throw unsupported }
        try checkFrames(declared, in: window)
        try checkPlayable(movie)
        let packetInspection = try PacketInspection.run(
            movie, deadline: deadline, validation: validation, expecting: expected)
        if movie.isIncomplete, try !movie.complete(by: packetInspection.decoders) {
            movie = try OpenMovie.open(
                descriptor, format: format, isRecognized: true, download: download, deadline: deadline)
        }
        movie.dropEmptyVideo(packetInspection)
        guard let found = movie.format(hint: format, boxes: boxes, head: head) else { throw unsupported }
        if !movie.holdsSamples(packetInspection) { throw window.cut }
        var media = movie.describe(as: found, packetInspection: packetInspection)
        media.isValidated = !validation.isSpent
        media.containerDefect = defect ?? movie.defect(packetInspection)
        try checkDuration(media, movie: movie)
        return (media, expected?.decodedFrame(packetInspection, movie: movie))
    }

    /// Only a movie whose index precedes its samples can be inspected while it downloads.
    private static func checkOrder(_ container: MediaContainer?, in window: ByteWindow) throws {
        guard container == .isoBaseMedia, try ISOBoxParser.hasIndexInFront(window) else {
            throw AttachPrepError(.internal, "The movie cannot be processed while it downloads.")
        }
    }

    private static func noun(_ format: MediaFormat?) -> String {
        format.map { $0.kind == .audio ? "audio file" : "movie" } ?? "file"
    }

    static let encrypted = AttachPrepError(
        .mediaEncrypted, "The file is protected (DRM); send one without protection.")
    private static let unsupported = AttachPrepError(
        .mediaUnsupported, "The file has no video or audio that can be decoded; send an MP4 or an MP3.")

    /// Whether the metadata declares encryption, as in Windows Media and Matroska.
    static func isEncrypted(_ movie: OpenMovie) -> Bool {
        let keys = Set(movie.demuxer.metadata.keys)
        return !keys.isDisjoint(with: ["ASF_Protection_Type", "ASF_Key_ID", "ASF_License_URL"])
            || movie.streams.contains { $0.metadata["enc_key_id"] != nil }
    }

    private static func checkFrames(_ format: MediaFormat, in window: ByteWindow) throws {
        switch format {
        case .mp3, .mp2: _ = try MP3Parser.parse(window)
        case .aac: _ = try ADTSParser.parse(window)
        case .mpeg1Video, .mpeg2Video: try MPEGVideoValidator.check(window)
        default: break
        }
    }

    static func checkPlayable(_ movie: OpenMovie) throws {
        if let video = movie.video, video.isDecodable, video.width > 0, video.height > 0 { return }
        if movie.video == nil, movie.audio.contains(where: \.isDecodable) { return }
        guard let stream = movie.video ?? movie.audio.first, !["", "none"].contains(stream.codec) else {
            throw unsupported
        }
        throw AttachPrepError(
            .mediaUnsupported,
            "The \(movie.video == nil ? "audio" : "video") is in \(stream.codec), which cannot be decoded; send an MP4 "
                + "or an MP3.")
    }

    private static let countedDemuxers: Set<String> = ["flac", "wv", "tta", "w64", "caf", "au"]

    /// Checks that the file holds the duration that a header with an exact sample count declares.
    private static func checkDuration(_ media: InspectedMedia, movie: OpenMovie) throws {
        guard countedDemuxers.contains(movie.demuxer.name),
            let stream = movie.audio.first,
            let declared = stream.declaredDuration.map(stream.timeBase.seconds), let held = media.duration
        else { return }
        if held < declared * Limits.declaredDurationShareMin - Limits.declaredDurationSlackSeconds {
            throw AttachPrepError(.mediaCorrupt, "The audio file is truncated; send the complete file.")
        }
    }
}

/// The readable part of a movie or audio file that inspection rejected as corrupt.
///
/// A file that holds at least half of its declared duration is converted.
package struct MovieRecovery: Sendable, Hashable {
    /// Description of the readable part; its duration is that of the samples present.
    package let media: InspectedMedia
    /// Duration in seconds from the header; nil if not declared.
    package let declaredDuration: Double?
    /// Seconds of intact samples.
    let heldSeconds: Double
    /// Whether any of them decodes.
    let decodes: Bool

    /// Reads as far as the file is readable, without validation.
    ///
    /// - Throws: `media.corrupt` when not even the header can be read, `media.unsupported`, `media.too_long`,
    ///   `media.too_many_pixels`, `deadline.exceeded`.
    package static func read(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> MovieRecovery {
        let window = try ByteWindow(descriptor: descriptor, noun: "file", deadline: deadline)
        var movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: deadline)
        let head = try window.characters(at: 0, count: min(64, window.size))
        let boxes = movie.isISOBaseMedia ? try ISOBoxParser.recovered(window) : nil
        if boxes?.isEncrypted == true || MovieInspection.isEncrypted(movie) { throw MovieInspection.encrypted }
        try MovieInspection.checkPlayable(movie)
        let probed = movie.video ?? movie.audio.first(where: \.isDecodable)
        let packetInspection = try PacketInspection.recovered(movie, deadline: deadline, probing: probed)
        movie.dropEmptyVideo(packetInspection)
        guard let found = movie.format(hint: format, boxes: boxes, head: head) else { throw window.broken("no stream") }
        let isNamed = !movie.isISOBaseMedia || boxes?.majorBrand != nil
        let media = movie.describe(as: isNamed ? found : format ?? found, packetInspection: packetInspection)
        let share = try share(window)
        let declared = share < 1 ? media.duration.map { $0 / share } : movie.demuxer.declaredDuration
        return MovieRecovery(
            media: media, declaredDuration: declared,
            heldSeconds: (media.duration ?? 0) * (probed.map(packetInspection.heldShare) ?? 0),
            decodes: packetInspection.decodes)
    }

    /// The readable part of a file if it is worth converting; nil otherwise.
    ///
    /// - Throws: `media.encrypted`, `deadline.exceeded`.
    static func repairable(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> InspectedMedia? {
        let recovered: MovieRecovery
        do { recovered = try read(descriptor: descriptor, format: format, deadline: deadline) } catch let error
            as AttachPrepError
        {
            if [.mediaEncrypted, .deadlineExceeded].contains(error.code) { throw error }
            return nil
        }
        // Without a declared duration, only the last frame is known to be missing.
        let declared = max(recovered.declaredDuration ?? 0, recovered.media.duration ?? 0)
        guard recovered.decodes, recovered.heldSeconds > 0, recovered.heldSeconds >= declared * Limits.repairShareMin
        else {
            return nil
        }
        var media = recovered.media
        media.damage = MediaDamage(declaredDuration: declared.roundedToMicroseconds)
        media.isValidated = false
        return media
    }

    /// Share of the bytes declared by the outer chunk or object that is present; 1 for other formats. libav computes
    /// the duration of such files from the bytes present.
    private static func share(_ window: ByteWindow) throws -> Double {
        let declared: Int
        switch try window.characters(at: 0, count: 4) {
        case "RIFF": declared = try window.littleEndian(at: 4, bytes: 4) + 8
        // Sony's Wave64 has 16-byte names and 64-bit sizes that include the header.
        case "riff": declared = try window.littleEndian(at: 16, bytes: 8) & Int.max
        case "0&\u{B2}u":
            let header = try window.littleEndian(at: 16, bytes: 8) & Int.max
            guard header < window.size - 24 else { return 1 }
            declared = header + (try window.littleEndian(at: header + 16, bytes: 8) & Int.max >> 1)
        case "FORM", "RIFX": declared = try window.bigEndian(at: 4, bytes: 4) + 8
        default: return 1
        }
        return declared == 0xFFFF_FFFF + 8 || declared <= window.size ? 1 : Double(window.size) / Double(declared)
    }
}

extension Limits {
    /// Seconds by which the declared duration may exceed that of the samples before the file counts as truncated.
    static let declaredDurationSlackSeconds = 0.5
    /// The smallest share of the declared duration that must be present: headers are rounded.
    static let declaredDurationShareMin = 0.99
    /// Share of the declared duration that a damaged movie or audio file must contain to be repaired.
    static let repairShareMin = 0.5
    /// Share of a request's time after which inspection gives up: a file that takes longer to read is not converted.
    static let inspectionTimeShare = 0.6
}
