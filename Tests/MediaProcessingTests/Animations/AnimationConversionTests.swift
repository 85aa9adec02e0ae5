import AttachPrepModel
import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

@Suite struct AnimationConversionTests {
    @Test func `An animated WebP becomes a GIF with its frames and delays that loops forever`() throws {
        let written = try RenderedAnimation(AnimationFixture.webP(), format: .webp)
        #expect(written.media.attachment?.type == .gif)
        #expect(written.media.attachment?.frames == 6)
        #expect(try written.identified("%Wx%H %T") == Array(repeating: "48x32 10", count: 6))
        #expect(try written.decodeWarnings() == "")
        #expect(String(decoding: written.bytes, as: Unicode.ASCII.self).contains("NETSCAPE2.0"))
    }

    @Test func `An APNG that plays three times plays three times as a GIF`() throws {
        let written = try RenderedAnimation(AnimationFixture.apng(plays: 3), format: .png)
        let extensionStart = try #require(written.bytes.firstRange(of: Array("NETSCAPE2.0".utf8))).upperBound
        #expect(written.bytes[extensionStart..<extensionStart + 4].elementsEqual([3, 1, 2, 0]))
    }

    @Test func `An animation that plays once is written without a loop extension`() throws {
        let written = try RenderedAnimation(AnimationFixture.apng(plays: 1), format: .png)
        #expect(written.bytes.firstRange(of: Array("NETSCAPE2.0".utf8)) == nil)
    }

    @Test(arguments: [MediaFormat.webp, .png, .avif])
    func `Converted frames look like the source's frames`(format: MediaFormat) throws {
        let source =
            switch format {
            case .webp: try AnimationFixture.webP()
            case .png: try AnimationFixture.apng()
            default: try AnimationFixture.avif()
            }
        let frames = try RenderedAnimation(source, format: format).frames()
        let originals = try RenderedAnimation.frames(of: AnimationFixture.moving())
        for (frame, original) in zip(frames, originals) {
            let difference = zip(frame, original).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(difference) / Double(frame.count) < 8)
        }
        #expect(frames.count == (format == .avif ? 4 : 6))
    }

    @Test(arguments: [2_000, 700])
    func `An animation of noise is encoded just below its size limit`(bytesMax: Int) throws {
        let written = try RenderedAnimation(AnimationFixture.noise(), format: .png, bytesMax: bytesMax)
        #expect(written.bytes.count <= bytesMax)
        #expect(written.bytes.count > bytesMax * 80 / 100)
        #expect(written.media.attachment?.bytes == written.bytes.count)
        #expect(written.media.reductions.contains { $0.contains("to fit \(bytesMax) bytes") })
        #expect(try written.decodeWarnings() == "")
    }

    @Test func `An impossible size limit fails with limit exceeded`() throws {
        let error = try #require(throws: AttachPrepError.self) {
            _ = try RenderedAnimation(AnimationFixture.noise(), format: .png, bytesMax: 50)
        }
        #expect(error.code == .limitExceeded)
    }

    @Test func `The long side is reduced to the requested size`() throws {
        let written = try RenderedAnimation(AnimationFixture.webP(), format: .webp, longSideMax: 24)
        #expect(written.media.attachment?.width == 24)
        #expect(written.media.attachment?.height == 16)
        #expect(try written.identified("%Wx%H").first == "24x16")
    }

    @Test func `The position of the thumbnail's frame is reported`() throws {
        let written = try RenderedAnimation(AnimationFixture.webP(), format: .webp, frameSelection: .animationFrame(4))
        #expect(written.media.attachmentPosition == .frame(4))
    }
}
