import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// Where the index of a copied movie is written.
struct MovieIndexTests {
    private static func large() throws -> URL {
        try GeneratedMedia.numbered(
            "large.mov",
            "-vf noise=alls=60:allf=t -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 25 -qp 18 "
                + "-c:a aac")
    }

    /// The boxes up to the media data, and the number of bytes in free boxes.
    private func boxes(_ bytes: [UInt8]) -> (names: [String], gap: Int) {
        var (names, gap, offset) = ([String](), 0, 0)
        while offset + 8 <= bytes.count, names.last != "mdat" {
            let name = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
            let size = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            if name == "free" { gap += size } else { names.append(name) }
            if size < 8 { break }
            offset += size
        }
        return (names, gap)
    }

    @Test func `A large copy has its index in the space reserved for it`() throws {
        let movie = try RenderedMovie(Self.large(), copies: true)
        let bytes = try movie.bytes
        #expect(bytes.count > 4_000_000)
        let (names, gap) = boxes(bytes)
        #expect(names == ["ftyp", "moov", "mdat"] && (9...20_000).contains(gap))
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(Self.large()))
        #expect(try movie.decodeWarnings() == "")
    }

    @Test func `A small copy is moved behind its index without a gap`() throws {
        let fixture = MovieFixture("small.mov", .quickTime, "-c:v libx264 -pix_fmt yuv420p -c:a aac")
        let movie = try RenderedMovie(fixture, copies: true)
        let (names, gap) = boxes(try movie.bytes)
        #expect(names == ["ftyp", "moov", "mdat"] && gap <= 8)
    }

    @Test(arguments: [8, 600])
    func `A copy is moved behind its index when the reserved space is too small`(reserve: Int) throws {
        let target = try GeneratedMedia.file("moved.mp4", bytes: [])
        let descriptors = [open(try Self.large().path, O_RDONLY), open(target.path, O_RDWR)]
        defer { for descriptor in descriptors { close(descriptor) } }
        let rendition = MovieRendition(bytesMax: Limits.movieBytesMax, copiesVideo: true, copiesAudio: true)
        var request = RenderRequest(format: .quickTime, frameSelection: .movieTime(0))
        request.attachment = .movie(rendition)
        let clock = WorkClock(deadline: .now + .seconds(60))
        let output = OutputFile(descriptor: descriptors[1])
        let source = try MovieSource(
            AttachmentConversion(request: request, source: descriptors[0], output: output, clock: clock),
            isForCopy: true)
        let pass = MoviePass(
            source: source, output: output, bytesMax: rendition.bytesMax, clock: clock, canRestart: false)
        let written = try pass.run(MoviePlan(video: .copied, audio: .copied), indexBytes: reserve)
        let bytes = [UInt8](try Data(contentsOf: target))
        #expect(bytes.count == written.bytes)
        let (names, gap) = boxes(bytes)
        #expect(names == ["ftyp", "moov", "mdat"] && gap <= 8)
        #expect(try MovieProbe.videoDigest(target) == MovieProbe.videoDigest(Self.large()))
    }
}
