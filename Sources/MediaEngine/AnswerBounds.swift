import RichPush

/// What the numbers of an answer may be.
///
/// A child that was taken over may send any, and the parent adds, multiplies and rounds them: within these bounds none
/// of its sums can overflow. They are far wider than anything that the limits of decoding let through.
struct AnswerBounds {
    private static let counts = 0...1 << 48
    private static let seconds = -1e12...1e12

    /// - Throws: `internal`, when a number is out of bounds.
    static func check(_ message: MediaAnswerMessage) throws(AttachPrepError) {
        let numbers = numbers(of: message)
        guard numbers.counts.allSatisfy(counts.contains), numbers.seconds.allSatisfy(seconds.contains) else {
            throw AttachPrepError(.internal, "The media process answered with a number that cannot be.")
        }
    }

    private typealias Numbers = (counts: [Int], seconds: [Double])

    private static func numbers(of message: MediaAnswerMessage) -> Numbers {
        switch message {
        case .answer(.inspected(let media)): numbers(of: media)
        case .progress(let rendered), .answer(.rendered(let rendered)): numbers(of: rendered)
        case .answer(.identified), .answer(.described), .failure: ([], [])
        }
    }

    private static func numbers(of media: InspectedMedia) -> Numbers {
        let stored = [media.video?.storedWidth, media.video?.storedHeight, media.video?.bitDepth]
        let sounds = media.audio.flatMap { [$0.channels, $0.sampleRate, $0.bitRate ?? 0] }
        let counts = [media.width, media.height, media.frames, media.loopCount] + stored
        let video = [media.video?.sampleAspectRatio, media.video?.frameRate, media.video?.firstFrameTime]
        let seconds = [media.duration, media.damage?.declaredDuration, media.video?.lastFrameTime] + video
        return (
            counts.compactMap(\.self) + sounds + (media.frameDelaysMilliseconds ?? []), seconds.compactMap(\.self)
        )
    }

    private static func numbers(of rendered: RenderedMedia) -> Numbers {
        let attachment = rendered.attachment
        var counts = [attachment?.bytes, attachment?.width, attachment?.height, attachment?.frames]
        for picture in [rendered.thumbnail, rendered.crop] {
            counts += [picture?.bytes, picture?.width, picture?.height]
        }
        var seconds = [attachment?.duration]
        for position in [rendered.sourcePosition, rendered.attachmentPosition] {
            switch position {
            case .seconds(let time): seconds.append(time)
            case .frame(let number): counts.append(number)
            case nil: break
            }
        }
        return (counts.compactMap(\.self), seconds.compactMap(\.self))
    }
}
