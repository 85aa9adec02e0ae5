import MediaEngine
import RichPush
import SafeArithmetic

/// Whether a source is worked on while it still arrives, from when, and what is done. Pure.
enum EarlyStart {
    /// Whether the rest is so near that a media slot may wait for it.
    ///
    /// - Parameters:
    ///   - bytes: That have arrived, of `total`.
    ///   - seconds: In which they came.
    static func isDue(_ kind: MediaKind, bytes: Int, of total: Int, in seconds: Double) -> Bool {
        guard total >= Limits.earlySourceBytesMin, bytes >= Limits.earlyArrivedBytesMin else { return false }
        let left = Double(max(0, total.subtracting(clamping: bytes))) / Double(bytes) * seconds
        return left <= (kind == .movie ? Limits.earlyMovieSecondsLeftMax : Limits.earlySecondsLeftMax)
    }

    /// What will be asked of a source of that format and size, should it be what it seems; nil where it is waited for.
    static func work(_ format: MediaFormat, bytes: Int, for request: AttachmentRequest) -> EarlyWork? {
        switch format {
        case .jpeg, .png: thumbnail(format, bytes: bytes, for: request).map(EarlyWork.thumbnail)
        case .mpeg4, .m4v, .quickTime:
            .inspection(InspectStep.question(format: format, bytes: bytes, for: request))
        default: nil
        }
    }

    /// Nil where more than its thumbnail is made of a picture, or nothing.
    private static func thumbnail(_ format: MediaFormat, bytes: Int, for request: AttachmentRequest) -> RenderRequest? {
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (1, 1, 1)
        let plan = PreparationPlan(media: media, bytes: bytes, request: request)
        guard plan.passedType != nil, plan.conversion == nil, let pictures = plan.pictures,
            pictures.outputs == [.thumbnail]
        else { return nil }
        return pictures
    }
}
