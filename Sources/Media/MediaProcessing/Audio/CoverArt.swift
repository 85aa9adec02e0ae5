import MediaEngine
import MediaLibraries
package import MediaTypes

/// Reads the cover image embedded in an audio file or movie.
package enum CoverArt {
    /// The encoded bytes (JPEG, PNG…) of the first cover; nil when there is none, or it is larger than
    /// `Limits.coverArtBytesMax` bytes.
    ///
    /// - Throws: `media.corrupt` when the file cannot be opened, `deadline.exceeded`.
    package static func image(
        descriptor: CInt, format: MediaFormat?, deadline: ContinuousClock.Instant
    ) throws -> [UInt8]? {
        let demuxer = try OpenMovie.demuxer(descriptor, format: format, isRecognized: true, deadline: deadline)
        for index in 0..<demuxer.streamCount {
            if let bytes = demuxer.attachedPicture(stream: index, bytesMax: Limits.coverArtBytesMax) { return bytes }
        }
        return nil
    }

    /// The colors of a PNG that has no profile; nil for sRGB, and for a JPEG.
    static func colors(_ bytes: [UInt8]) -> DeclaredColors? {
        guard bytes.starts(with: PNGChunk.signature) else { return nil }
        return try? DeclaredColors.png(ByteWindow(bytes: bytes, noun: "cover"))
    }

    /// Whether a cover is a JPEG or PNG that does not exceed the decoding limits.
    static func isHarmless(_ bytes: [UInt8]) -> Bool {
        let window = ByteWindow(bytes: bytes, noun: "cover")
        return ImageSignature.format(of: LeadingBytes(Array(bytes.prefix(64))))?.imageFormat?.isCover(window) ?? false
    }
}

extension Limits {
    /// Larger cover art is treated as a decompression bomb.
    static let coverArtBytesMax = 10_000_000
}
