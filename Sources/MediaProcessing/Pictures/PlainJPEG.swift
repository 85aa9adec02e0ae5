import MediaEngine
import RichPush

/// A JPEG of the kind nearly all are, whose header we read ourselves: one frame of 8 bits, grey or three components,
/// baseline or progressive, with at most one EXIF block that can be read.
///
/// What is not plain goes through libvips, which knows the rest; both ways say the same of the same file.
struct PlainJPEG {
    let segments: JPEGSegments

    private static let huffmanFrames: Set<UInt8> = [0xC0, 0xC1, 0xC2]

    /// Nil for another kind.
    init?(_ segments: JPEGSegments) {
        guard segments.frames.count == 1, let frame = segments.frames.first, Self.huffmanFrames.contains(frame),
            segments.precision == 8, segments.components == 1 || segments.components == 3,
            segments.exif.count <= 1, segments.exif.allSatisfy({ $0 != nil })
        else { return nil }
        self.segments = segments
    }

    var orientation: Orientation {
        segments.exif.first.flatMap { $0?.orientation }.flatMap(Orientation.init) ?? .upright
    }

    /// Pixels as displayed.
    var width: Int { orientation.swapsSides ? segments.height : segments.width }
    /// Pixels as displayed.
    var height: Int { orientation.swapsSides ? segments.width : segments.height }

    /// Refuses it by its header.
    ///
    /// - Throws: `media.too_many_pixels`, `media.corrupt` for an empty picture.
    func check() throws {
        try PictureLimits.check(width: segments.width, height: segments.height)
        _ = try StillMemory.coefficientBytes(segments)
    }

    /// What inspection says of it.
    var inspected: InspectedMedia {
        var media = InspectedMedia(format: .jpeg)
        (media.width, media.height, media.orientation) = (width, height, orientation)
        media.frames = 1
        media.colour = segments.components == 1 ? "b-w" : "srgb"
        media.hasColourProfile = !segments.profile.isEmpty
        media.hasLocation = segments.exif.contains { $0?.hasLocation == true }
        media.hasMetadata = segments.hasMetadata
        return media
    }
}
