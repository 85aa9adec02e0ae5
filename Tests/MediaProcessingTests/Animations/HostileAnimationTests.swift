import AttachPrepModel
import Foundation
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Malformed and extreme GIFs, built byte by byte.
@Suite struct HostileAnimationTests {
    /// A GIF whose frames have one pixel each, at an offset on the canvas.
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
        let file = try GeneratedMedia.file("hostile.gif", bytes: bytes)
        return try withDescriptor(file) { descriptor in
            let answer = try MediaProcessor().perform(
                .inspect(InspectRequest(format: .gif, decodesStills: false)), descriptors: [descriptor],
                deadline: .now + .seconds(30))
            guard case .inspected(let media, _) = answer else {
                throw GeneratedMedia.FixtureError(description: "\(answer)")
            }
            return media
        }
    }

    private func write(_ bytes: [UInt8], seconds: Double = 60) throws -> RenderedAnimation {
        try RenderedAnimation(
            GeneratedMedia.file("hostile.gif", bytes: bytes).path, format: .gif, seconds: seconds)
    }

    @Test func `20,000 frames are rejected as too many, by inspection and by conversion`() throws {
        let bytes = Self.gif(frames: 20_000, width: 4, height: 4)
        #expect(try #require(throws: AttachPrepError.self) { try inspect(bytes) }.code == .mediaTooManyFrames)
        #expect(try #require(throws: AttachPrepError.self) { try write(bytes) }.code == .mediaTooManyFrames)
    }

    @Test func `A huge canvas is rejected as too many pixels, even with frames of one pixel`() throws {
        let bytes = Self.gif(frames: 50, width: 10_000, height: 10_000)
        #expect(try #require(throws: AttachPrepError.self) { try inspect(bytes) }.code == .mediaTooManyPixels)
        #expect(try #require(throws: AttachPrepError.self) { try write(bytes) }.code == .mediaTooManyPixels)
    }

    @Test func `A frame outside the canvas draws nothing`() throws {
        let written = try write(Self.gif(frames: 3, width: 8, height: 8, left: 20, top: 20))
        #expect(written.media.attachment?.width == 8)
        #expect(written.media.attachment?.frames == 3)
        #expect(try written.decodeWarnings() == "")
    }

    @Test func `A delay of zero is written as 100 ms, as browsers play it`() throws {
        let written = try write(Self.gif(frames: 3, width: 8, height: 8, hundredths: 0))
        #expect(try written.identified("%T") == ["10", "10", "10"])
    }

    @Test func `An animation of one frame is written with one frame`() throws {
        let written = try write(Self.gif(frames: 1, width: 8, height: 8))
        #expect(written.media.attachment?.frames == 1)
        #expect(try written.identified("%Wx%H") == ["8x8"])
    }

    @Test func `A conversion whose deadline has passed fails with deadline exceeded`() throws {
        let error = #expect(throws: AttachPrepError.self) {
            _ = try write(Self.gif(frames: 3, width: 8, height: 8), seconds: -1)
        }
        #expect(error?.code == .deadlineExceeded)
    }
}
