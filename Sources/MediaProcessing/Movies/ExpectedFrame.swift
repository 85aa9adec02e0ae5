import LibAV
import MediaEngine
import RichPush

/// The frame of a movie that an expected thumbnail shows.
struct ExpectedFrame {
    let thumbnail: ExpectedThumbnail

    init(_ thumbnail: ExpectedThumbnail) { self.thumbnail = thumbnail }

    /// Where its packets are looked for while the movie is read.
    func window(_ movie: OpenMovie) -> FrameWindow? {
        movie.video.flatMap { FrameWindow(movie, $0, seconds: thumbnail.seconds) }
    }

    /// Its time; nil past the end, where another one will be asked for.
    func seconds(duration: Double) -> Double? {
        guard let seconds = thumbnail.seconds else { return duration / 2 }
        return seconds <= duration ? seconds : nil
    }

    func pixels(of stream: StreamDescription) -> FramePixels {
        FramePixels(stream: stream, wantedSide: thumbnail.box.largestSide)
    }

    /// The picture, if it came along.
    func picture(_ survey: MovieSurvey, _ movie: OpenMovie) -> DecodedPicture? {
        guard let stream = movie.video, let early = survey.early else { return nil }
        return try? pixels(of: stream).picture(of: early.frame, time: early.time)
    }
}

extension ThumbnailRendition {
    /// Pixels of the longer side at most of a picture inside the box; nil where it hangs over.
    var largestSide: Int? { fit == .contain ? max(width, height) : nil }
}
