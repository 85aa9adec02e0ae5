import MediaEngine
import RichPush

/// The thumbnail that a movie's plan is going to ask for, foretold before anything but its format is known. Pure.
struct ThumbnailExpectation {
    /// By identification.
    let format: MediaFormat?
    let bytes: Int
    let request: AttachmentRequest

    /// Nil where it cannot be foretold, or where the movie may well be refused.
    var thumbnail: ExpectedThumbnail? {
        let options = request.options
        guard format?.kind == .movie, options.crop == nil, !isTooLarge else { return nil }
        let box = ThumbnailRendition(
            width: options.thumbnailWidth, height: options.thumbnailHeight, fit: options.thumbnailFit)
        switch options.thumbnailTime {
        case .at(let seconds): return ExpectedThumbnail(box: box, seconds: seconds)
        case .auto: return nil
        case nil: return ExpectedThumbnail(box: box, seconds: nil)
        }
    }

    private var isTooLarge: Bool { request.oversize == .reject && bytes > request.bytesMax(for: .movie) }
}
