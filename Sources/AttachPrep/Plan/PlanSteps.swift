import MediaEngine
import RichPush

/// What a plan does, in order, as a person reads it: for `inspect`. Pure.
struct PlanSteps {
    let course: Course
    let request: AttachmentRequest
    let hasPicture: Bool

    var sentences: [String] {
        var steps: [String] = []
        if hasPicture, request.options.crop != nil { steps.append("write the crop at full resolution") }
        if hasPicture {
            let options = request.options
            steps.append(
                "write a thumbnail, \(options.thumbnailFit.rawValue) "
                    + "\(options.thumbnailWidth)x\(options.thumbnailHeight)")
        }
        // Bounded: a list.
        return [attachment] + steps
    }

    private var attachment: String {
        switch course.direction {
        case .pass(let type): "deliver the bytes unchanged as attachment.\(type.fileExtension)"
        case .rewrite(.still(let still)):
            "write the picture anew, upright and in sRGB, as JPEG or PNG" + within(still.longSideMax, still.bytesMax)
        case .rewrite(.animation(let animation)):
            "write the animation as GIF" + within(animation.longSideMax, animation.bytesMax)
        case .rewrite(.sound(let sound)) where sound.completesWave: "copy the samples into a WAV with a whole header"
        case .rewrite(.sound(let sound)):
            (sound.copies ? "copy the sound into an M4A" : "encode the sound as AAC into an M4A")
                // Bounded: text.
                + within(nil, sound.bytesMax)
        // Bounded: text.
        case .rewrite(.movie(let movie)): Self.streams(movie) + within(movie.longSideMax, movie.bytesMax)
        }
    }

    private static func streams(_ movie: MovieRendition) -> String {
        switch (movie.copiesVideo, movie.copiesAudio) {
        case (true, true): "copy the streams into an MP4"
        case (true, false): "copy the pictures into an MP4, the sound as AAC"
        case (false, _): "encode the pictures as H.264 into an MP4, the sound as AAC"
        }
    }

    private func within(_ side: Int?, _ bytes: Int) -> String {
        (side.map { ", at most \($0) pixels on the long side" } ?? "") + ", within \(bytes.grouped) bytes"
    }
}
