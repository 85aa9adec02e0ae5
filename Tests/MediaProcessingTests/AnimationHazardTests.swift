import Foundation
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing

/// Animations made by hand, as nobody should make them.
@Suite struct AnimationHazardTests {
    /// A GIF of frames of one pixel each, at a place, on a canvas.
    private static func gif(
        frames: Int, width: Int, height: Int, left: Int = 0, top: Int = 0, hundredths: Int = 10
    ) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }
        let header = Array("GIF89a".utf8) + number(width) + number(height) + [0x80, 0, 0, 255, 0, 0, 0, 255, 0]
        let control = [0x21, 0xF9, 4, 4] + number(hundredths) + [0, 0]
        let image = [0x2C] + number(left) + number(top) + [1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        return header + Array(repeatElement(control + image, count: frames).joined()) + [0x3B]
    }

    private func inspect(_ bytes: [UInt8]) throws -> InspectedMedia {
        let file = try GeneratedMedia.file("hazard.gif", bytes: bytes)
        return try withDescriptor(file) { descriptor in
            let answer = try MediaProcessor().perform(
                .inspect(InspectRequest(format: .gif, decodesStills: false)), descriptors: [descriptor],
                deadline: .now + .seconds(30))
            guard case .inspected(let media, _) = answer else { throw GeneratedMedia.Failure(description: "\(answer)") }
            return media
        }
    }

    private func write(_ bytes: [UInt8], seconds: Double = 60) throws -> WrittenAnimation {
        try WrittenAnimation(
            GeneratedMedia.file("hazard.gif", bytes: bytes).path, format: .gif, seconds: seconds)
    }

    @Test func `20,000 frames are too many, and known before one is decoded`() throws {
        let bytes = Self.gif(frames: 20_000, width: 4, height: 4)
        #expect(try #require(throws: AttachPrepError.self) { try inspect(bytes) }.code == .mediaTooManyFrames)
        #expect(try #require(throws: AttachPrepError.self) { try write(bytes) }.code == .mediaTooManyFrames)
    }

    @Test func `a huge canvas has too many pixels, however little is drawn on it`() throws {
        let bytes = Self.gif(frames: 50, width: 10_000, height: 10_000)
        #expect(try #require(throws: AttachPrepError.self) { try inspect(bytes) }.code == .mediaTooManyPixels)
        #expect(try #require(throws: AttachPrepError.self) { try write(bytes) }.code == .mediaTooManyPixels)
    }

    @Test func `a frame outside the canvas shows nothing`() throws {
        let written = try write(Self.gif(frames: 3, width: 8, height: 8, left: 20, top: 20))
        #expect(written.media.attachment?.width == 8)
        #expect(written.media.attachment?.frames == 3)
        #expect(try written.complaints() == "")
    }

    @Test func `delays of nothing are what browsers make of them`() throws {
        let written = try write(Self.gif(frames: 3, width: 8, height: 8, hundredths: 0))
        #expect(try written.identified("%T") == ["10", "10", "10"])
    }

    @Test func `an animation of one frame is written as one`() throws {
        let written = try write(Self.gif(frames: 1, width: 8, height: 8))
        #expect(written.media.attachment?.frames == 1)
        #expect(try written.identified("%Wx%H") == ["8x8"])
    }

    @Test func `with no time at all there is still an answer`() throws {
        let failure = #expect(throws: AttachPrepError.self) {
            _ = try write(Self.gif(frames: 3, width: 8, height: 8), seconds: -1)
        }
        #expect(failure?.code == .deadlineExceeded)
    }
}
