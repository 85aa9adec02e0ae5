import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// A movie's thumbnail that is made from the frames that its inspection decodes.
struct EarlyThumbnailTests {
    private static let box = ThumbnailRendition(width: 300, height: 300, fit: .contain)

    /// Performs a call; returns its answer and the thumbnail that it wrote.
    private func perform(_ call: MediaCall, _ file: URL) throws -> (answer: MediaAnswer, written: [UInt8]) {
        let target = try GeneratedMedia.file("early.jpg", bytes: [])
        let descriptors = [open(file.path, O_RDONLY), open(target.path, O_RDWR)]
        defer { for descriptor in descriptors { close(descriptor) } }
        // Without an expected thumbnail there is no descriptor to write to.
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
            throw GeneratedMedia.FixtureError(description: "\(answer)")
        }
        return (media, early, written)
    }

    /// Compares an early thumbnail with the one that a render makes, byte for byte.
    ///
    /// - Returns: Whether there was an early thumbnail.
    private func equalsRender(_ file: URL, _ format: MediaFormat, at seconds: Double?, in box: ThumbnailRendition = box)
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
    func `An early thumbnail equals the one that a render makes`(fixture: MovieFixture, seconds: Double?) throws {
        let isEarly = try equalsRender(fixture.file(), fixture.format, at: seconds)
        let alwaysEarly = [
            "x264.mp4", "faststart.mp4", "long.mp4", "interlaced.mp4", "hvc1.mp4", "x264.mov", "x264.3gp",
        ]
        if alwaysEarly.contains(fixture.name) { #expect(isEarly) }
    }

    /// Groups with more frames than are validated; the wanted frame is before, in and after the validated part.
    @Test(arguments: [0.1, 0.3, 1.0, 2.5, 4.9], [(16, ThumbnailFit.contain), (300, .contain), (16, .cover)])
    func `Early thumbnails of large frames equal rendered ones at any size`(
        seconds: Double, box: (side: Int, fit: ThumbnailFit)
    ) throws {
        let file = try GeneratedMedia.numbered(
            "many.mp4",
            "-vf scale=2560:1920 -c:v libx264 -preset ultrafast -bf 2 "
                + "-pix_fmt yuv420p -g 70 -sc_threshold 0 -an")
        let box = ThumbnailRendition(width: box.side, height: box.side, fit: box.fit)
        #expect(try equalsRender(file, .mpeg4, at: seconds, in: box))
    }

    @Test func `A time past the end gives no early thumbnail`() throws {
        let found = try inspect(MovieFixture.attachableMovies[0].file(), .mpeg4, at: 7)
        #expect(found.early == nil && found.written.isEmpty)
    }

    @Test func `No early thumbnail is made unless one is expected`() throws {
        let (answer, written) = try perform(
            .inspect(InspectRequest(format: .mpeg4, decodesStills: false)), MovieFixture.attachableMovies[0].file())
        guard case .inspected(_, nil) = answer else { throw GeneratedMedia.FixtureError(description: "\(answer)") }
        #expect(written.isEmpty)
    }

    /// Damages 200 bytes at an offset of the file; the verdict is the same with and without an expected thumbnail.
    @Test(arguments: ["x264.mp4", "long.mp4", "hvc1.mp4"], stride(from: 0.04, to: 0.8, by: 0.06).map { $0 })
    func `Expecting a thumbnail does not change the verdict on a damaged movie`(name: String, share: Double) throws {
        let fixture = try #require(MovieFixture.attachableMovies.first { $0.name == name })
        var bytes = [UInt8](try Data(contentsOf: fixture.file()))
        let start = Int(Double(bytes.count) * share)
        for offset in start..<min(start + 200, bytes.count) { bytes[offset] ^= 0x5A }
        let file = try GeneratedMedia.file("damaged.mp4", bytes: bytes)
        func verdict(_ expected: ExpectedThumbnail?) -> String {
            let request = InspectRequest(format: fixture.format, decodesStills: false, expected: expected)
            do {
                let (answer, _) = try perform(.inspect(request), file)
                guard case .inspected(let media, _) = answer else { return "\(answer)" }
                return "\(media)"
            } catch { return "\(error)" }
        }
        #expect(verdict(ExpectedThumbnail(box: Self.box, seconds: nil)) == verdict(nil))
        #expect(verdict(ExpectedThumbnail(box: Self.box, seconds: 0.5)) == verdict(nil))
    }
}
