import MediaEngine
import RichPush

/// Sends a render to the room that knows its kind.
enum Rendering {
    static func render(
        _ request: RenderRequest, source: CInt, outputs: [OutputFile], deadline: ContinuousClock.Instant,
        progress: @escaping (RenderedMedia) -> Void
    ) throws -> RenderedMedia {
        var outputs = outputs
        let arrival = request.isArriving ? outputs.popLast().map { Arrival(words: $0.descriptor) } : nil
        guard outputs.count == request.outputs.count else {
            throw AttachPrepError(.internal, "The media process was given the wrong number of outputs.")
        }
        let clock = WorkClock(deadline: deadline)
        if let arrival {
            let named = Dictionary(uniqueKeysWithValues: zip(request.outputs, outputs))
            return try PictureRendering(request: request, source: source, outputs: named, clock: clock)
                .renderArriving(arrival)
        }
        switch request.attachment {
        case .still, nil:
            let named = Dictionary(uniqueKeysWithValues: zip(request.outputs, outputs))
            return try PictureRendering(
                request: request, source: source, outputs: named, clock: clock, progress: progress
            ).render()
        case .animation, .movie, .sound:
            precondition(request.outputs == [.attachment], "what takes long is rendered alone")
            return try AttachmentConversion(request: request, source: source, output: outputs[0], clock: clock).run()
        }
    }
}
