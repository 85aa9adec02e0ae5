import LibAV
import MediaEngine
import RichPush

/// What became of a movie.
struct MovieReport {
    private let conversion: AttachmentConversion
    private let rendition: MovieRendition
    private let source: MovieSource
    private var losses: MovieLosses
    private var shape: (width: Int, height: Int)
    /// What is left to be done by whoever shows it.
    private var orientation: Orientation

    init(_ conversion: AttachmentConversion, _ rendition: MovieRendition, _ source: MovieSource) {
        self.conversion = conversion
        self.rendition = rendition
        self.source = source
        losses = MovieLosses(bytesMax: rendition.bytesMax)
        shape = (source.geometry.width, source.geometry.height)
        orientation = source.geometry.orientation
    }

    /// Notes how the sound was written.
    mutating func note(sound: MoviePlan.Sound, full: AudioEncoderSettings?) { losses.note(sound: sound, full: full) }

    /// Notes how the pictures were encoded.
    mutating func note(_ choice: MovieChoice, load: MovieLoad, written: MovieWritten) {
        shape = (choice.shape.width, choice.shape.height)
        orientation = .upright
        losses.note(choice, load: load, written: written)
    }

    /// The answer.
    func media(_ written: MovieWritten) -> RenderedMedia {
        var losses = losses
        losses.noteLength(written.duration, of: source.scan.duration)
        if rendition.isRepair { losses.noteRepair() }
        var media = losses.media(written, shape: shape, orientation: orientation)
        if case .movieTime(let time) = conversion.request.picture {
            let position = source.scan.timeline.output(time)
            // Bounded: floating point.
            media.attachmentPosition = .seconds(max(0, min(position, written.duration)).roundedToMicroseconds)
        }
        return media
    }
}
