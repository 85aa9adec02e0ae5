import Foundation
import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

/// A movie's thumbnail that is made of the pictures its inspection decodes.
struct EarlyThumbnailTests {
    private static let box = ThumbnailRendition(width: 300, height: 300, fit: .contain)

    /// What a call answers, and what it wrote beside the source.
    private func perform(_ call: MediaCall, _ file: URL) throws -> (answer: MediaAnswer, written: [UInt8]) {
        let target = try GeneratedMedia.file("early.jpg", bytes: [])
        let descriptors = [open(file.path, O_RDONLY), open(target.path, O_RDWR)]
        defer { for descriptor in descriptors { close(descriptor) } }
        // Nothing is written where nothing is expected.
        let isExpected = if case .inspect(let request) = call { request.expected != nil } else { true }
        let answer = try MediaProcessor().perform(
            call, descriptors: isExpected ? descriptors : [descriptors[0]], deadline: .now + .seconds(60))
        return (answer, [UInt8](try Data(contentsOf: target)))
    }

    private func inspect(_ file: URL, _ format: MediaFormat, at seconds: Double?, in box: ThumbnailRendition = box)
        throws -> (media: InspectedMedia, early: EarlyRender?, written: [UInt8])
    {
        let expected = ExpectedThumbnail(box: box, seconds: seconds)
        let (answer, written) = try perform(
            .inspect(InspectRequest(format: format, decodesStills: false, expected: expected)), file)
        guard case .inspected(let media, let early) = answer else {
            throw GeneratedMedia.Failure(description: "\(answer)")
        }
        return (media, early, written)
    }

    /// Compares what came along with what a render makes, byte for byte.
    ///
    /// - Returns: Whether anything came along.
    private func agrees(_ file: URL, _ format: MediaFormat, at seconds: Double?, in box: ThumbnailRendition = box)
        throws -> Bool
    {
        let (media, early, written) = try inspect(file, format, at: seconds, in: box)
        guard let early else { return false }
        let expected = ExpectedThumbnail(box: box, seconds: seconds)
        #expect(early.request == expected.request(format: media.format, duration: media.duration))
        let (answer, rendered) = try perform(.render(early.request), file)
        #expect(answer == .rendered(early.media))
        #expect(written == rendered)
        return true
    }

    @Test(arguments: MovieFixture.attachableMovies + MovieFixture.otherMovies, [nil, 0, 0.6, 2.2, 4.97])
    func `What comes along is what a render would have made`(fixture: MovieFixture, seconds: Double?) throws {
        let came = try agrees(fixture.file(), fixture.format, at: seconds)
        let sure = ["x264.mp4", "faststart.mp4", "long.mp4", "interlaced.mp4", "hvc1.mp4", "x264.mov", "x264.3gp"]
        if sure.contains(fixture.name) { #expect(came) }
    }

    /// Groups longer than what is proved of them, with the frame before, in and behind the proved part.
    @Test(arguments: [0.1, 0.3, 1.0, 2.5, 4.9], [(16, ThumbnailFit.contain), (300, .contain), (16, .cover)])
    func `Pictures of many pixels, reduced little or much`(seconds: Double, box: (side: Int, fit: ThumbnailFit)) throws
    {
        let file = try GeneratedMedia.numbered(
            "many.mp4",
            "-vf scale=3840:2880 -c:v libx264 -preset veryfast -bf 2 "
                + "-pix_fmt yuv420p -g 70 -sc_threshold 0 -an")
        let box = ThumbnailRendition(width: box.side, height: box.side, fit: box.fit)
        #expect(try agrees(file, .mpeg4, at: seconds, in: box))
    }

    @Test func `A time past the end is left to a render`() throws {
        let found = try inspect(MovieFixture.attachableMovies[0].file(), .mpeg4, at: 7)
        #expect(found.early == nil && found.written.isEmpty)
    }

    @Test func `Nothing comes along where nothing is expected`() throws {
        let (answer, written) = try perform(
            .inspect(InspectRequest(format: .mpeg4, decodesStills: false)), MovieFixture.attachableMovies[0].file())
        guard case .inspected(_, nil) = answer else { throw GeneratedMedia.Failure(description: "\(answer)") }
        #expect(written.isEmpty)
    }

    /// Bytes spoiled at some part of the file: the verdict is the same with a thumbnail in view.
    @Test(arguments: ["x264.mp4", "long.mp4", "hvc1.mp4"], stride(from: 0.04, to: 0.8, by: 0.06).map { $0 })
    func `What is damaged is judged as before`(name: String, share: Double) throws {
        let fixture = try #require(MovieFixture.attachableMovies.first { $0.name == name })
        var bytes = [UInt8](try Data(contentsOf: fixture.file()))
        let start = Int(Double(bytes.count) * share)
        for place in start..<min(start + 200, bytes.count) { bytes[place] ^= 0x5A }
        let file = try GeneratedMedia.file("spoiled.mp4", bytes: bytes)
        func verdict(_ expected: ExpectedThumbnail?) -> String {
            let question = InspectRequest(format: fixture.format, decodesStills: false, expected: expected)
            do {
                let (answer, _) = try perform(.inspect(question), file)
                guard case .inspected(let media, _) = answer else { return "\(answer)" }
                return "\(media)"
            } catch { return "\(error)" }
        }
        #expect(verdict(ExpectedThumbnail(box: Self.box, seconds: nil)) == verdict(nil))
        #expect(verdict(ExpectedThumbnail(box: Self.box, seconds: 0.5)) == verdict(nil))
    }
}
