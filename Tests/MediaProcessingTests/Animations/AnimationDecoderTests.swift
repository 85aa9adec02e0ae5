import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

@Suite struct AnimationDecoderTests {
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
            guard case .inspected(let media, _) = answer else {
                throw GeneratedMedia.FixtureError(description: "\(answer)")
            }
            return media
        }
    }

    /// A square that moves over a transparent background.
    private func transparentBackground() throws -> String {
        try GeneratedMedia.file(
            "nothing.apng",
            [
                "-f", "lavfi", "-i", "color=black@0:s=40x24:r=10,format=rgba", "-f", "lavfi", "-i",
                "color=red@0.8:s=8x8:r=10,format=rgba", "-filter_complex", "[0][1]overlay=x=n*5:y=n:format=rgb",
                "-frames:v", "5", "-pix_fmt", "rgba", "-plays", "2", "-f", "apng",
            ]
        ).path
    }

    @Test func `APNG frames are composed as FFmpeg composes them`() throws {
        let path = try transparentBackground()
        let (loops, frames) = try frames(path, .png)
        #expect(loops == 2)
        #expect(frames.map(\.delayMilliseconds) == Array(repeating: 100, count: 5))
        let references = try RenderedAnimation.frames(of: path)
        #expect(references.count == 5)
        for (frame, reference) in zip(frames, references) { #expect(Self.looksSame(frame.pixels, reference)) }
    }

    /// Compares pixels; the color of a fully transparent pixel is ignored.
    private static func looksSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let (left, right) = (VisiblePixel.all(of: left), VisiblePixel.all(of: right))
        return zip(left, right).allSatisfy { $0 == $1 }
    }

    /// A pixel; a fully transparent one has no color.
    private struct VisiblePixel: Equatable {
        let bytes: [UInt8]

        static func all(of bytes: [UInt8]) -> [VisiblePixel] {
            stride(from: 0, to: bytes.count, by: 4).map { index in
                VisiblePixel(bytes: bytes[index + 3] == 0 ? [] : Array(bytes[index..<index + 4]))
            }
        }
    }

    @Test func `GIF frames are composed as FFmpeg composes them`() throws {
        let path = try AnimationFixture.gif()
        let (loops, frames) = try frames(path, .gif)
        #expect(loops == 0)
        let references = try RenderedAnimation.frames(of: path)
        for (frame, reference) in zip(frames, references) { #expect(Self.looksSame(frame.pixels, reference)) }
        #expect(frames.count == 6)
    }

    @Test func `Frames of a lossless WebP equal the frames it was encoded from`() throws {
        let (loops, frames) = try frames(AnimationFixture.webP(loop: 3), .webp)
        #expect(loops == 3)
        let references = try RenderedAnimation.frames(of: AnimationFixture.moving())
        for (frame, reference) in zip(frames, references) { #expect(Self.looksSame(frame.pixels, reference)) }
    }

    @Test func `Colors of an animated WebP are converted to sRGB`() throws {
        let path = try AnimationFixture.webP(loop: 3)
        let wide = path.replacingOccurrences(of: ".webp", with: "-wide.webp")
        try GeneratedMedia.run("vips", ["webpsave", "\(path)[n=-1]", wide, "--lossless", "--profile", "p3"])
        let (plain, converted) = try (frames(path, .webp).frames, frames(wide, .webp).frames)
        #expect(plain.count == converted.count)
        #expect(zip(plain, converted).contains { $0.pixels != $1.pixels })
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif])
    func `Inspection reports frames, delays and loops`(format: MediaFormat) throws {
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
    func `A truncated animation is corrupt`(format: MediaFormat) throws {
        let complete =
            switch format {
            case .webp: try AnimationFixture.webP()
            case .png: try AnimationFixture.apng()
            default: try AnimationFixture.avif()
            }
        for percent in [30, 70, 97] {
            let truncated = try GeneratedMedia.cut(URL(fileURLWithPath: complete), percent: percent)
            let error = try #require(throws: AttachPrepError.self) { _ = try inspected(truncated.path, format) }
            #expect(error.code == .mediaCorrupt)
        }
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif])
    func `A thumbnail can be made from any frame of an animation`(format: MediaFormat) throws {
        let path =
            switch format {
            case .webp: try AnimationFixture.webP()
            case .png: try AnimationFixture.apng()
            default: try AnimationFixture.avif()
            }
        let rendered = try RenderedStill(path, format: format, frameSelection: .animationFrame(3), side: 48)
        #expect(rendered.media.sourcePosition == .frame(3))
        // The square is at 20, 8 in this frame: the overlay counts from 1.
        let color = try rendered.image(.thumbnail).color(atUnitX: 24.0 / 48, y: 12.0 / 32)
        #expect(color.distance(to: TestColor(hex: 0xffffff)) < 25, "\(color)")
    }
}
