import Foundation
import TestSupport
import Testing

@testable import JXL

struct JXLDecoderTests {
    private struct StopError: Error {}

    private static let animated = SourceTree.path("Tests/Fixtures/animations/counter.jxl")

    private static func decoder(_ content: JXLDecoder.Content, _ bytes: [UInt8]) throws -> JXLDecoder {
        try JXLDecoder(content, size: bytes.count) { Array(bytes[$0]) }
    }

    private static func bytes(_ path: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: path))) }

    private static func frames(_ bytes: [UInt8]) throws -> [[UInt8]] {
        let decoder = try decoder(.frames, bytes)
        var frames: [[UInt8]] = []
        while let frame = try decoder.nextFrame() { frames.append(frame) }
        return frames
    }

    @Test func `The header of an animation has its size, and its layers have durations`() throws {
        let decoder = try Self.decoder(.layers, Self.bytes(Self.animated))
        #expect(decoder.header.width == 48 && decoder.header.height == 36)
        #expect(decoder.header.isAnimated && decoder.header.loopCount == 0 && decoder.header.hasAlpha)
        var layers: [JXLLayer] = []
        while let layer = try decoder.nextLayer() { layers.append(layer) }
        #expect(layers.map { decoder.header.seconds($0.ticks) } == [0.2, 0.2, 0.2])
        #expect(layers.map(\.isLast) == [false, false, true])
    }

    @Test func `All frames are decoded in the size of the header`() throws {
        let frames = try Self.frames(Self.bytes(Self.animated))
        #expect(frames.map(\.count) == Array(repeating: 48 * 36 * 4, count: 3))
        #expect(Set(frames).count == 3)
    }

    @Test func `A still has one layer and one frame`() throws {
        let bytes = try Self.bytes(SourceTree.sample("grid.jxl"))
        let decoder = try Self.decoder(.layers, bytes)
        #expect(try decoder.nextLayer()?.isLast == true)
        #expect(try decoder.nextLayer() == nil)
        #expect(!decoder.header.isAnimated && !decoder.header.hasAlpha && decoder.colorProfile == nil)
        #expect(try Self.frames(bytes).count == 1)
    }

    @Test func `Every truncated animation is an error, and recognized as truncated`() throws {
        let bytes = try Self.bytes(Self.animated)
        for count in stride(from: 0, to: bytes.count, by: 10) {
            let cut = Array(bytes.prefix(count))
            let error = try #require(throws: JXLError.self) { try Self.frames(cut) }
            #expect(error.isTruncated, "\(count): \(error)")
        }
    }

    @Test func `Overwritten animations end with an error or with frames of the right size`() throws {
        let bytes = try Self.bytes(Self.animated)
        for start in stride(from: 0, to: bytes.count - 10, by: 10) {
            for value in [UInt8(0), 0xFF, 0x5A] {
                var damaged = bytes
                damaged.replaceSubrange(start..<start + 10, with: Array(repeating: value, count: 10))
                guard let frames = try? Self.smallFrames(damaged) else { continue }
                #expect(Set(frames.map(\.count)).count <= 1)
            }
        }
    }

    /// No frames of an image that a damaged header makes large: limits are the caller's.
    private static func smallFrames(_ bytes: [UInt8]) throws -> [[UInt8]] {
        guard try decoder(.layers, bytes).header.frameBytes < 10_000_000 else { return [] }
        return try frames(bytes)
    }

    @Test(arguments: [[], [0xFF, 0x0A], Array(repeating: 0, count: 5_000), Array(repeating: 0xA5, count: 5_000)])
    func `Bytes that are not an image are an error`(bytes: [UInt8]) {
        #expect(throws: JXLError.self) { try Self.decoder(.layers, bytes) }
    }

    @Test func `An error thrown while reading ends decoding`() throws {
        #expect(throws: StopError.self) { try JXLDecoder(.frames, size: 100) { _ in throw StopError() } }
    }
}
