public import RichPush

/// The thumbnail that will probably be wanted of a movie: inspection can make it of the pictures it decodes anyway.
public struct ExpectedThumbnail: Codable, Sendable, Hashable {
    public var box: ThumbnailRendition
    /// Seconds of the movie's own timeline; nil for the middle.
    public var seconds: Double?

    public init(box: ThumbnailRendition, seconds: Double?) {
        self.box = box
        self.seconds = seconds
    }

    /// The render it comes to for a movie of that duration.
    public func request(format: MediaFormat, duration: Double?) -> RenderRequest {
        var request = RenderRequest(format: format, picture: .movieTime(seconds ?? (duration ?? 0) / 2))
        request.thumbnail = box
        return request
    }
}

/// A render that was done before it was asked for.
public struct EarlyRender: Codable, Sendable, Hashable {
    public let request: RenderRequest
    public let media: RenderedMedia

    public init(request: RenderRequest, media: RenderedMedia) {
        self.request = request
        self.media = media
    }

    /// Whether it is what is asked for now.
    public func answers(_ wanted: RenderRequest) -> Bool { wanted == request }
}
