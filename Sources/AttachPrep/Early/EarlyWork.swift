import MediaEngine
import RichPush

/// What is done with a source while it still arrives.
enum EarlyWork: Sendable, Hashable {
    /// The thumbnail of a picture that is passed.
    case thumbnail(RenderRequest)
    /// The inspection of a movie.
    case inspection(InspectRequest)
}

/// What came of it.
enum EarlyResult: Sendable {
    case renditions(Renditions)
    case inspection(InspectedMedia, EarlyThumbnail?)
}
