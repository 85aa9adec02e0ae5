import MediaEngine
import RichPush

/// Whether a picture is worked on while it still arrives, and from when. Pure.
enum EarlyStart {
    /// Whether the rest is so near that a media slot may wait for it.
    ///
    /// - Parameters:
    ///   - bytes: That have arrived, of `total`.
    ///   - seconds: In which they came.
    static func isDue(bytes: Int, of total: Int, in seconds: Double) -> Bool {
        guard total >= Limits.earlySourceBytesMin, bytes >= Limits.earlyArrivedBytesMin else { return false }
        let left = Double(max(0, total - bytes)) / Double(bytes) * seconds
        return left <= Limits.earlySecondsLeftMax
    }

    /// What will be asked of a JPEG or PNG of that size, should it be what it seems; nil where more than its thumbnail
    /// is made of it, or nothing.
    static func request(_ format: MediaFormat, bytes: Int, for request: AttachmentRequest) -> RenderRequest? {
        guard [.jpeg, .png].contains(format) else { return nil }
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (1, 1, 1)
        let plan = PreparationPlan(media: media, bytes: bytes, request: request)
        guard plan.passedType != nil, plan.conversion == nil, let pictures = plan.pictures,
            pictures.outputs == [.thumbnail]
        else { return nil }
        return pictures
    }
}
