import MediaEngine
import RichPush

/// Sends a file to the inspection that knows its kind.
enum Inspection {
    /// - Parameter others: The descriptor for the expected thumbnail, and that of the words of a source that arrives.
    static func inspect(
        _ request: InspectRequest, source: CInt, others: [CInt] = [], deadline: ContinuousClock.Instant
    ) throws -> (media: InspectedMedia, early: EarlyRender?) {
        guard others.count == (request.expected == nil ? 0 : 1) + (request.arrivingBytes == nil ? 0 : 1) else {
            throw AttachPrepError(.internal, "The media process was given the wrong number of files.")
        }
        if let format = request.format, format.kind == .image {
            let inspection = PictureInspection(request: request, format: format, source: source, deadline: deadline)
            return (try inspection.inspect().withinReason, nil)
        }
        let arrival = request.arrivingBytes.flatMap { total in others.last.map { Arrival(words: $0, total: total) } }
        var (media, frame) = try MovieInspection.inspect(
            descriptor: source, format: request.format, arrival: arrival, expecting: request.expected,
            deadline: deadline)
        media.duration = media.duration?.roundedToMicroseconds
        guard let frame, let expected = request.expected, let thumbnail = others.first else {
            return (media.withinReason, nil)
        }
        let render = expected.request(format: media.format, duration: media.duration)
        // What cannot be written now is asked for once more, and fails then.
        let rendered = try? PictureRendering(
            request: render, source: source, outputs: [.thumbnail: OutputFile(descriptor: thumbnail)],
            clock: WorkClock(deadline: deadline)
        ).render(frame)
        return (media.withinReason, rendered.map { EarlyRender(request: render, media: $0) })
    }
}

extension Double {
    /// No container counts finer; the digits behind would be noise of binary fractions.
    var roundedToMicroseconds: Double { (self * 1_000_000).rounded() / 1_000_000 }
}

extension InspectedMedia {
    /// Plays of an animation and seconds of a header that are no more than a number to whoever reads them; a file may
    /// declare anything, and the parent takes what cannot be for a broken child.
    fileprivate var withinReason: InspectedMedia {
        var media = self
        media.loopCount = media.loopCount.map { min($0, Int(Int32.max)) }
        media.damage?.declaredDuration.bound()
        media.video?.firstFrameTime.bound()
        media.video?.lastFrameTime.bound()
        return media
    }
}

extension Double {
    /// Thirty years to both sides; nothing in a movie is further away.
    private static let secondsMax = 1e9

    fileprivate mutating func bound() {
        self = isNaN ? 0 : Swift.max(-Self.secondsMax, Swift.min(Self.secondsMax, self))
    }
}
