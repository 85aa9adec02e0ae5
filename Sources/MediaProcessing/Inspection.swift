import MediaEngine
import RichPush

/// Sends a file to the inspection that knows its kind.
enum Inspection {
    static func inspect(_ request: InspectRequest, source: CInt, deadline: ContinuousClock.Instant) throws
        -> InspectedMedia
    {
        if let format = request.format, format.kind == .image {
            return try PictureInspection(request: request, format: format, source: source, deadline: deadline)
                .inspect()
        }
        var media = try MovieInspection.inspect(descriptor: source, format: request.format, deadline: deadline)
        media.duration = media.duration?.roundedToMicroseconds
        return media
    }
}

extension Double {
    /// No container counts finer; the digits behind would be noise of binary fractions.
    var roundedToMicroseconds: Double { (self * 1_000_000).rounded() / 1_000_000 }
}
