import LibAV
package import RichPush

/// The picture a movie shows at a time.
package enum MovieFrame {
    /// Decodes the last frame whose presentation time is not later than `seconds`; the first frame before that, the
    /// last one past the end.
    ///
    /// - Parameters:
    ///   - descriptor: A complete, seekable file; borrowed.
    ///   - seconds: In the movie's own timeline, as `InspectedMedia` has it.
    ///   - largestSide: Pixels the caller needs of the longer side; the picture may be shrunk early to no less than
    ///     twice of it. Nil for full size.
    ///   - clock: Past its aim the nearest frame before the wanted one is taken, and marked as not exact.
    /// - Throws: `media.corrupt` when no picture decodes, `media.unsupported`, `media.too_many_pixels`,
    ///   `deadline.exceeded`.
    package static func decode(
        descriptor: CInt, format: MediaFormat?, at seconds: Double, largestSide: Int? = nil,
        clock: WorkClock
    ) throws -> DecodedPicture {
        for way in FrameSearch.Way.allCases {
            let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: clock.deadline)
            guard let stream = movie.video, stream.isDecodable else { throw unsupported }
            let pixels = FramePixels(stream: stream, wantedSide: largestSide)
            let search = FrameSearch(
                movie, stream, seconds: seconds, needsSmoothReferences: pixels.showsEdges, time: clock)
            guard let found = try readingMedia({ try search.run(way) }) else { continue }
            return try readingMedia { try pixels.picture(of: found.frame, time: found.time, isExact: found.isExact) }
        }
        throw AttachPrepError(.mediaCorrupt, "No picture of the movie decodes; send an intact file.")
    }

    static let unsupported = AttachPrepError(
        .mediaUnsupported, "The movie has no pictures that we can decode; send an MP4 with H.264.")
}
