import MediaEngine
import PNG
import RichPush

/// The thumbnail of a plain PNG, reduced while its rows come: nothing of the size of the whole is ever held.
///
/// All of the file is read and all of its checksums are looked at, so one that is cut or damaged is found out as well.
struct ReducedPNG {
    private let decoder: PNGDecoder
    private let deadline: ContinuousClock.Instant

    /// Rows between two looks at the clock.
    private static let rowsAtATime = 256

    /// Nil for what is no plain PNG, or cannot be read so: with more than 8 bits a sample, interlaced, turned by a
    /// camera, or in colours other than sRGB's.
    init?(source: CInt, deadline: ContinuousClock.Instant, _ arrival: Arrival? = nil) throws {
        guard
            let decoder = try? PNGDecoder(
                descriptor: source, waitForMore: { arrival?.waitForMore() ?? false }),
            !decoder.isInterlaced, decoder.bitDepth <= 8, !decoder.hasExif
        else { return nil }
        try PictureLimits.check(width: decoder.width, height: decoder.height)
        if let profile = decoder.colourProfile, !ICCProfile.isSRGB(profile) { return nil }
        (self.decoder, self.deadline) = (decoder, deadline)
    }

    /// The thumbnail for a box; nil when the file cannot be read to its end this way, which says nothing of the file.
    ///
    /// - Throws: `deadline.exceeded`.
    func thumbnail(in box: ThumbnailRendition) throws -> ReducedRows.Thumbnail? {
        guard
            var rows = ReducedRows(
                width: decoder.width, height: decoder.height, samples: decoder.samples.rawValue, box: box)
        else { return nil }
        var row = 0
        do {
            try unsafe decoder.decode { pixels in
                if row % Self.rowsAtATime == 0 { try checkDeadline(deadline) }
                row += 1
                unsafe rows.take(pixels)
            }
        } catch is PNGError {
            return nil
        }
        return try rows.thumbnail()
    }
}
