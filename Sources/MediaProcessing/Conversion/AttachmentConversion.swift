import MediaEngine
import RichPush

/// Writes an attachment anew that is no still: the decision which converter knows how.
struct AttachmentConversion {
    let request: RenderRequest
    let source: CInt
    let output: OutputFile
    let clock: WorkClock

    func run() throws -> RenderedMedia {
        switch request.attachment {
        case .animation(let rendition): try AnimationConversion(self, rendition).run()
        case .movie(let rendition) where request.format.kind == .image: try AnimationMovie(self, rendition).run()
        case .movie(let rendition): try MovieConversion(self, rendition).run()
        case .sound(let rendition): try SoundConversion(self, rendition).run()
        case .still, nil: preconditionFailure("a still is rendered with its thumbnail")
        }
    }
}
