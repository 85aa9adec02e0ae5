import LibAV
package import MediaEngine
package import RichPush

/// What can still be read of a movie or sound that inspection refused as corrupt.
///
/// A file that holds at least half of what its header declares is worth a conversion (DESIGN 3, "Sound").
package struct MovieSalvage: Sendable, Hashable {
    /// The readable part; its duration is that of the samples that are there.
    package let media: InspectedMedia
    /// Seconds by the header; nil where it says nothing.
    package let declaredDuration: Double?
    /// Seconds of samples that are there and not broken.
    let heldSeconds: Double
    /// Whether any of it decodes.
    let decodes: Bool

    /// Reads as far as the file goes and proves nothing.
    ///
    /// - Throws: `media.corrupt` when not even the header can be read, `media.unsupported`, `media.too_long`,
    ///   `media.too_many_pixels`, `deadline.exceeded`.
    package static func read(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> MovieSalvage {
        let window = try ByteWindow(descriptor: descriptor, noun: "file", deadline: deadline)
        var movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: deadline)
        let head = try window.characters(at: 0, count: min(64, window.size))
        let boxes = movie.isISOBaseMedia ? try BoxWalk.salvage(window) : nil
        if boxes?.isEncrypted == true || MovieInspection.isEncrypted(movie) { throw MovieInspection.encrypted }
        try MovieInspection.checkPlayable(movie)
        let probed = movie.video ?? movie.audio.first(where: \.isDecodable)
        let survey = try MovieSurvey.salvage(movie, deadline: deadline, probing: probed)
        movie.leaveOutEmptyVideo(survey)
        guard let found = movie.format(hint: format, boxes: boxes, head: head) else { throw window.broken("no stream") }
        let isNamed = !movie.isISOBaseMedia || boxes?.majorBrand != nil
        let media = movie.describe(as: isNamed ? found : format ?? found, survey: survey)
        let share = try share(window)
        // Bounded: floating point.
        let declared = share < 1 ? media.duration.map { $0 / share } : movie.demuxer.declaredDuration
        return MovieSalvage(
            media: media, declaredDuration: declared,
            heldSeconds: (media.duration ?? 0) * (probed.map(survey.heldShare) ?? 0),
            decodes: survey.decodes)
    }

    /// The readable part of a file that is worth a conversion; nil for one that is not.
    ///
    /// - Throws: `media.encrypted`, `deadline.exceeded`.
    static func repairable(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> InspectedMedia? {
        let salvage: MovieSalvage
        do { salvage = try read(descriptor: descriptor, format: format, deadline: deadline) } catch let error
            as AttachPrepError
        {
            if [.mediaEncrypted, .deadlineExceeded].contains(error.code) { throw error }
            return nil
        }
        // Where nothing is declared, nothing but the last frame is known to be missing.
        let declared = max(salvage.declaredDuration ?? 0, salvage.media.duration ?? 0)
        // Bounded: floating point.
        guard salvage.decodes, salvage.heldSeconds > 0, salvage.heldSeconds >= declared * Limits.repairShareMin else {
            return nil
        }
        var media = salvage.media
        media.damage = MediaDamage(declaredDuration: declared.roundedToMicroseconds)
        media.isProved = false
        return media
    }

    /// The part of the bytes that the outer chunk or object declares which is there; 1 for everything else. libav
    /// measures such files by what is left of them.
    // Bounded throughout: 32 bits, but for a header that lies in the file, and a size of 62 bits behind it.
    private static func share(_ window: ByteWindow) throws -> Double {
        let declared: Int
        switch try window.characters(at: 0, count: 4) {
        case "RIFF": declared = try window.littleEndian(at: 4, bytes: 4) + 8
        // Sony's Wave64 has long names and long sizes, which count themselves.
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
