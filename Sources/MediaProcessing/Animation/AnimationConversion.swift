import MediaEngine
import RichPush

/// Writes an animation as GIF.
struct AnimationConversion {
    private let conversion: AttachmentConversion
    private let rendition: AnimationRendition

    init(_ conversion: AttachmentConversion, _ rendition: AnimationRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    func run() throws -> RenderedMedia {
        throw AttachPrepError(.mediaUnsupported, "This conversion is not there yet.")
    }
}
