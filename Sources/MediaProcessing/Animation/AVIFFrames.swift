import LibAV
import RichPush

/// The frames of an AVIF's sequence, decoded by libav; an alpha stream is laid into them.
final class AVIFFrames: FrameSequence {
    let width: Int
    let height: Int
    let loopCount: Int
    private let survey: AVIFSurvey
    private let colour: AVIFStream
    private let alpha: AVIFStream?
    private let deadline: ContinuousClock.Instant
    private var number = 0

    var count: Int { survey.times.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        survey = try AVIFSurvey(descriptor, deadline: deadline)
        (width, height, loopCount) = (survey.width, survey.height, survey.loopCount)
        self.deadline = deadline
        colour = try AVIFStream(survey.colour, descriptor: descriptor, deadline: deadline)
        alpha = try survey.alpha.map { try AVIFStream($0, descriptor: descriptor, deadline: deadline) }
    }

    func next() throws -> SequenceFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        var pixels = try opaque(picture(of: colour))
        if let alpha { lay(try opaque(picture(of: alpha)), into: &pixels) }
        defer { number += 1 }
        return SequenceFrame(
            pixels: pixels, delayMilliseconds: AnimationFrames.shown(survey.delaysMilliseconds[number]))
    }

    private func picture(of stream: AVIFStream) throws -> DecodedPicture {
        guard let picture = try stream.next(), picture.width == width, picture.height == height else {
            throw AttachPrepError(.mediaCorrupt, "The AVIF ends before frame \(number); it is broken.")
        }
        return picture
    }

    private func opaque(_ picture: DecodedPicture) -> [UInt8] {
        guard picture.bands == 3 else { return picture.bytes }
        // Bounded throughout: `PictureLimits` have been checked, and a picture has these sides.
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        for index in 0..<width * height {
            for band in 0..<3 { pixels[index * 4 + band] = picture.bytes[index * 3 + band] }
        }
        return pixels
    }

    /// The alpha stream is grey: red stands for all three.
    private func lay(_ alpha: [UInt8], into pixels: inout [UInt8]) {
        // Bounded: as above.
        for index in 0..<width * height { pixels[index * 4 + 3] = alpha[index * 4] }
    }
}
