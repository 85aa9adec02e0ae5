import MediaEngine
import RichPush

/// Writes an movie as MP4.
struct MovieConversion {
    private let conversion: AttachmentConversion
    private let rendition: MovieRendition

    init(_ conversion: AttachmentConversion, _ rendition: MovieRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    func run() throws -> RenderedMedia {
        throw AttachPrepError(.mediaUnsupported, "This conversion is not there yet.")
    }
}
