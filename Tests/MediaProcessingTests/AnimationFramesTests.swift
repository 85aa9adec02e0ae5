import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import MediaProcessing

@Suite struct AnimationFramesTests {
    private func frames(_ path: String, _ format: MediaFormat) throws -> (loops: Int, frames: [AnimationFrame]) {
        try withDescriptor(URL(fileURLWithPath: path)) { descriptor in
            _ = try MediaProcessor()
            let sequence = try AnimationDecoders.open(
                descriptor: descriptor, format: format, deadline: .now + .seconds(60))
            var frames: [AnimationFrame] = []
            while let frame = try sequence.next() { frames.append(frame) }
            #expect(frames.count == sequence.count)
            #expect(frames.allSatisfy { $0.pixels.count == sequence.width * sequence.height * 4 })
            return (sequence.loopCount, frames)
        }
    }

    private func inspected(_ path: String, _ format: MediaFormat) throws -> InspectedMedia {
        try withDescriptor(URL(fileURLWithPath: path)) { descriptor in
            let answer = try MediaProcessor().perform(
                .inspect(InspectRequest(format: format, decodesStills: true)), descriptors: [descriptor],
                deadline: .now + .seconds(60))
            guard case .inspected(let media, _) = answer else { throw GeneratedMedia.Failure(description: "\(answer)") }
            return media
        }
    }

    /// A square that moves over nothing.
    private func overNothing() throws -> String {
        try GeneratedMedia.file(
            "nothing.apng",
            [
                "-f", "lavfi", "-i", "color=black@0:s=40x24:r=10,format=rgba", "-f", "lavfi", "-i",
                "color=red@0.8:s=8x8:r=10,format=rgba", "-filter_complex", "[0][1]overlay=x=n*5:y=n:format=rgb",
                "-frames:v", "5", "-pix_fmt", "rgba", "-plays", "2", "-f", "apng",
            ]
        ).path
    }

    @Test func `an APNG's frames are composed as FFmpeg composes them`() throws {
        let path = try overNothing()
        let (loops, frames) = try frames(path, .png)
        #expect(loops == 2)
        #expect(frames.map(\.delayMilliseconds) == Array(repeating: 100, count: 5))
        let references = try WrittenAnimation.frames(of: path)
        #expect(references.count == 5)
        for (frame, reference) in zip(frames, references) { #expect(Self.looksSame(frame.pixels, reference)) }
    }

    /// The colour of what is wholly transparent is nobody's.
    private static func looksSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let (left, right) = (SeenPixel.all(of: left), SeenPixel.all(of: right))
        return zip(left, right).allSatisfy { $0 == $1 }
    }

    /// A pixel; one that is not seen has no colour.
    private struct SeenPixel: Equatable {
        let bytes: [UInt8]

        static func all(of bytes: [UInt8]) -> [SeenPixel] {
            stride(from: 0, to: bytes.count, by: 4).map { index in
                SeenPixel(bytes: bytes[index + 3] == 0 ? [] : Array(bytes[index..<index + 4]))
            }
        }
    }

    @Test func `a GIF's frames are composed as FFmpeg composes them`() throws {
        let path = try AnimationFixture.gif()
        let (loops, frames) = try frames(path, .gif)
        #expect(loops == 0)
        let references = try WrittenAnimation.frames(of: path)
        for (frame, reference) in zip(frames, references) { #expect(Self.looksSame(frame.pixels, reference)) }
        #expect(frames.count == 6)
    }

    @Test func `a lossless WebP's frames are the pictures it was made of`() throws {
        let (loops, frames) = try frames(AnimationFixture.webP(loop: 3), .webp)
        #expect(loops == 3)
        let references = try WrittenAnimation.frames(of: AnimationFixture.moving())
        for (frame, reference) in zip(frames, references) { #expect(Self.looksSame(frame.pixels, reference)) }
    }

    @Test func `a WebP's colours are brought to sRGB`() throws {
        let path = try AnimationFixture.webP(loop: 3)
        let wide = path.replacingOccurrences(of: ".webp", with: "-wide.webp")
        try GeneratedMedia.run("vips", ["webpsave", "\(path)[n=-1]", wide, "--lossless", "--profile", "p3"])
        let (plain, converted) = try (frames(path, .webp).frames, frames(wide, .webp).frames)
        #expect(plain.count == converted.count)
        #expect(zip(plain, converted).contains { $0.pixels != $1.pixels })
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif])
    func `an inspection tells frames, delays and loops`(format: MediaFormat) throws {
        let path =
            switch format {
            case .webp: try AnimationFixture.webP(loop: 3)
            case .png: try AnimationFixture.apng(plays: 3)
            default: try AnimationFixture.avif()
            }
        let media = try inspected(path, format)
        #expect(media.width == 48 && media.height == 32)
        #expect(media.frames == (format == .avif ? 4 : 6))
        #expect(media.frameDelaysMilliseconds?.allSatisfy { $0 == 100 } == true)
        #expect(media.loopCount == (format == .avif ? 1 : 3))
        #expect(media.isAnimated)
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif])
    func `a cut animation is broken`(format: MediaFormat) throws {
        let whole =
            switch format {
            case .webp: try AnimationFixture.webP()
            case .png: try AnimationFixture.apng()
            default: try AnimationFixture.avif()
            }
        for percent in [30, 70, 97] {
            let cut = try GeneratedMedia.cut(URL(fileURLWithPath: whole), percent: percent)
            let failure = try #require(throws: AttachPrepError.self) { _ = try inspected(cut.path, format) }
            #expect(failure.code == .mediaCorrupt)
        }
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif])
    func `a frame of any animation makes the thumbnail`(format: MediaFormat) throws {
        let path =
            switch format {
            case .webp: try AnimationFixture.webP()
            case .png: try AnimationFixture.apng()
            default: try AnimationFixture.avif()
            }
        let rendered = try RenderedStill(path, format: format, picture: .animationFrame(3), side: 48)
        #expect(rendered.media.sourcePosition == .frame(3))
        // The square stands at 20, 8 then: the overlay counts from 1.
        let colour = try rendered.picture(.thumbnail).colour(atUnitX: 24.0 / 48, y: 12.0 / 32)
        #expect(colour.distance(to: TestColour(hex: 0xffffff)) < 25, "\(colour)")
    }
}
