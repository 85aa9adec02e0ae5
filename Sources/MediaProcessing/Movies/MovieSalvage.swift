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

    /// Reads as far as the file goes and proves nothing.
    ///
    /// - Throws: `media.corrupt` when not even the header can be read, `media.unsupported`, `media.too_long`,
    ///   `media.too_many_pixels`, `deadline.exceeded`.
    package static func read(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> MovieSalvage {
        let window = try ByteWindow(descriptor: descriptor, noun: "file", deadline: deadline)
        let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: deadline)
        let head = try window.characters(at: 0, count: min(64, window.size))
        let boxes = movie.isISOBaseMedia ? try? BoxWalk.walk(window) : nil
        guard let found = movie.format(hint: format, boxes: boxes, head: head) else { throw window.broken("no stream") }
        let survey = try MovieSurvey.salvage(movie, deadline: deadline)
        let media = movie.describe(as: movie.isISOBaseMedia ? format ?? found : found, survey: survey)
        let share = try share(window)
        let declared = share < 1 ? media.duration.map { $0 / share } : movie.declaredDuration
        return MovieSalvage(media: media, declaredDuration: declared)
    }

    /// The part of the bytes an outer RIFF or FORM chunk declares that is there; 1 for everything else. libav measures
    /// such files by what is left of them.
    private static func share(_ window: ByteWindow) throws -> Double {
        let declared: Int
        switch try window.characters(at: 0, count: 4) {
        case "RIFF": declared = try window.littleEndian(at: 4, bytes: 4) + 8
        case "FORM", "RIFX": declared = try window.bigEndian(at: 4, bytes: 4) + 8
        default: return 1
        }
        return declared == 0xFFFF_FFFF + 8 || declared <= window.size ? 1 : Double(window.size) / Double(declared)
    }
}

extension OpenMovie {
    /// Seconds of the longest stream by the headers.
    fileprivate var declaredDuration: Double? {
        ([video].compactMap { $0 } + audio).compactMap { stream in
            stream.declaredDuration.map(stream.timeBase.seconds)
        }.max()
    }
}
