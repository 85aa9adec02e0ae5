package import MediaTypes

/// Limits of media that several modules check.
extension Limits {
    /// A camera's uncompressed TIFF is about 100 MB; larger files are not meant for notifications.
    package static let imageSourceBytesMax = 100_000_000
    /// An hour of CD-quality audio is about 600 MB; audio for notifications is less than a tenth of that.
    static let audioSourceBytesMax = 100_000_000
    /// Two minutes of 4K video from a phone are about 400 MB; more does not convert within a 30 s budget.
    static let movieSourceBytesMax = 500_000_000
    /// The largest of the three limits, which applies until the content is identified.
    package static let sourceBytesMax = movieSourceBytesMax
    /// The largest accepted source of a kind, in bytes.
    package static func sourceBytesMax(_ kind: MediaKind) -> Int {
        switch kind {
        case .image: imageSourceBytesMax
        case .audio: audioSourceBytesMax
        case .movie: movieSourceBytesMax
        }
    }
    /// libvips reads at most 4,096 frames of an animation and silently drops the rest.
    package static let animationFramesMax = 4_096
    /// Longer than any movie or song for a notification; bounds the walk over its samples.
    package static let durationSecondsMax = 4.0 * 3600
    /// 8K video, 7,680 x 4,320, including padding.
    package static let moviePixelsMax = 36_000_000
    /// Content is identified for the first time when this much was received (libmagic itself reads 4 KB to 7 MB).
    package static let identifyBytesFirst = 4_096
    /// The second and last identification before the end, for MP3s with large cover art in front.
    package static let identifyBytesLast = 65_536
}
