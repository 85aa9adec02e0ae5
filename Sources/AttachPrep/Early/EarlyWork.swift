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

/// The body that early work reads: bytes of one generation are only added, so that number and length name its content.
struct ArrivingBody: Sendable, Hashable {
    /// See `DownloadedFile.generation`.
    let generation: Int
    /// Of the whole: what the server said while it arrived, and what is there in the end.
    let bytes: Int
}
