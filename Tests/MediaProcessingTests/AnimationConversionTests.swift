import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

@Suite struct AnimationConversionTests {
    @Test func `a WebP becomes a GIF with its frames and delays, for ever`() throws {
        let written = try WrittenAnimation(AnimationFixture.webP(), format: .webp)
        #expect(written.media.attachment?.type == .gif)
        #expect(written.media.attachment?.frames == 6)
        #expect(try written.identified("%Wx%H %T") == Array(repeating: "48x32 10", count: 6))
        #expect(try written.complaints() == "")
        #expect(String(decoding: written.bytes, as: Unicode.ASCII.self).contains("NETSCAPE2.0"))
    }

    @Test func `an APNG that plays three times does so as a GIF`() throws {
        let written = try WrittenAnimation(AnimationFixture.apng(plays: 3), format: .png)
        let extensionStart = try #require(written.bytes.firstRange(of: Array("NETSCAPE2.0".utf8))).upperBound
        #expect(written.bytes[extensionStart..<extensionStart + 4].elementsEqual([3, 1, 2, 0]))
    }

    @Test func `what plays once says nothing of loops`() throws {
        let written = try WrittenAnimation(AnimationFixture.apng(plays: 1), format: .png)
        #expect(written.bytes.firstRange(of: Array("NETSCAPE2.0".utf8)) == nil)
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif])
    func `the frames look like the source's`(format: MediaFormat) throws {
        let source =
            switch format {
            case .webp: try AnimationFixture.webP()
            case .png: try AnimationFixture.apng()
            default: try AnimationFixture.avif()
            }
        let frames = try WrittenAnimation(source, format: format).frames()
        let originals = try WrittenAnimation.frames(of: AnimationFixture.moving())
        for (frame, original) in zip(frames, originals) {
            let difference = zip(frame, original).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(difference) / Double(frame.count) < 8)
        }
        #expect(frames.count == (format == .avif ? 4 : 6))
    }

    @Test(arguments: [2_000, 700])
    func `noise is brought under a limit, and close to it`(bytesMax: Int) throws {
        let written = try WrittenAnimation(AnimationFixture.noise(), format: .png, bytesMax: bytesMax)
        #expect(written.bytes.count <= bytesMax)
        #expect(written.bytes.count > bytesMax * 80 / 100)
        #expect(written.media.attachment?.bytes == written.bytes.count)
        #expect(written.media.concessions.contains { $0.contains("to fit \(bytesMax) bytes") })
        #expect(try written.complaints() == "")
    }

    @Test func `a limit that nothing fits is an error`() throws {
        let failure = try #require(throws: AttachPrepError.self) {
            _ = try WrittenAnimation(AnimationFixture.noise(), format: .png, bytesMax: 50)
        }
        #expect(failure.code == .limitExceeded)
    }

    @Test func `the long side is brought to what was asked`() throws {
        let written = try WrittenAnimation(AnimationFixture.webP(), format: .webp, longSideMax: 24)
        #expect(written.media.attachment?.width == 24)
        #expect(written.media.attachment?.height == 16)
        #expect(try written.identified("%Wx%H").first == "24x16")
    }

    @Test func `the thumbnail's frame is found again`() throws {
        let written = try WrittenAnimation(AnimationFixture.webP(), format: .webp, picture: .animationFrame(4))
        #expect(written.media.attachmentPosition == .frame(4))
    }
}
