import LibAV
import MediaEngine
import RichPush

/// The frame of a movie that an expected thumbnail shows.
struct ExpectedFrame {
    let thumbnail: ExpectedThumbnail

    init(_ thumbnail: ExpectedThumbnail) { self.thumbnail = thumbnail }

    /// When it is shown, as far as the header tells; nil for movies whose frames have to be searched for.
    func moment(in movie: OpenMovie, _ stream: StreamDescription) -> PictureProof.ExpectedMoment? {
        FrameWindow(movie, stream, seconds: thumbnail.seconds).map { window in
            PictureProof.ExpectedMoment(
                seconds: movie.demuxer.expectedDuration.flatMap { seconds(duration: $0) }, window: window,
                needsSmoothReferences: pixels(of: stream).showsEdges)
        }
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
