import LibAV
package import RichPush

/// The picture embedded in a sound or a movie.
package enum CoverArt {
    /// The encoded bytes (JPEG, PNG…) of the first cover; nil when there is none, or it is larger than
    /// `Limits.coverArtBytesMax`.
    ///
    /// - Throws: `media.corrupt` when the file cannot be opened, `deadline.exceeded`.
    package static func picture(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> [UInt8]? {
        let demuxer = try OpenMovie.demuxer(descriptor, format: format, isRecognized: true, deadline: deadline)
        for index in 0..<demuxer.streamCount {
            if let bytes = demuxer.attachedPicture(stream: index, bytesMax: Limits.coverArtBytesMax) { return bytes }
        }
        return nil
    }

    /// Whether a cover is what covers are, JPEG or PNG, and nothing that unpacks to more than it looks.
    static func isHarmless(_ bytes: [UInt8]) -> Bool {
        let window = ByteWindow(bytes: bytes, noun: "cover")
        switch PictureSignature.format(of: FirstBytes(Array(bytes.prefix(64)))) {
        case .jpeg: return (try? StillMemory.coefficientBytes(window)) != nil
        case .png: return (try? PNGChunkWalk.walk(window)) != nil
        default: return false
        }
    }
}
