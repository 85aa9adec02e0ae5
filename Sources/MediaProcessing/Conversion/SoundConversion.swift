import MediaEngine
import RichPush

/// Writes an sound as M4A.
struct SoundConversion {
    private let conversion: AttachmentConversion
    private let rendition: SoundRendition

    init(_ conversion: AttachmentConversion, _ rendition: SoundRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    func run() throws -> RenderedMedia {
        throw AttachPrepError(.mediaUnsupported, "This conversion is not there yet.")
    }
}
