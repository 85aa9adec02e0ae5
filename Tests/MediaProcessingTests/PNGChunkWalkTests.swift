import MediaProcessing
import RichPush
import Testing

@Suite struct PNGChunkWalkTests {
    private let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private func chunk(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        WalkBytes.bigEndian(content.count, 4) + Array(type.utf8) + content + [0, 0, 0, 0]
    }

    private var header: [UInt8] {
        chunk("IHDR", WalkBytes.bigEndian(30, 4) + WalkBytes.bigEndian(40, 4) + [8, 6, 0, 0, 0])
    }
    private var data: [UInt8] { chunk("IDAT", [1, 2, 3]) }
    private var end: [UInt8] { chunk("IEND") }

    private func animation(plays: Int) -> [UInt8] {
        chunk("acTL", WalkBytes.bigEndian(2, 4) + WalkBytes.bigEndian(plays, 4))
    }

    private func control(_ numerator: Int, _ denominator: Int) -> [UInt8] {
        chunk(
            "fcTL",
            [UInt8](repeating: 0, count: 20) + WalkBytes.bigEndian(numerator, 2) + WalkBytes.bigEndian(denominator, 2)
                + [0, 0])
    }

    private func walk(_ bytes: [UInt8]) throws -> PNGParser { try PNGParser.walk(WalkBytes.window(bytes)) }

    @Test func `a still gives its header`() throws {
        let walk = try walk(signature + header + data + end)
        #expect((walk.width, walk.height, walk.bitDepth, walk.colorType) == (30, 40, 8, 6))
        #expect(!walk.isAnimated)
        #expect(walk.frames == 1)
    }

    @Test func `an animation gives frames, delays and plays`() throws {
        let walk = try walk(
            signature + header + animation(plays: 3) + control(1, 10) + data + control(5, 0) + chunk("fdAT", [1]) + end)
        #expect(walk.isAnimated)
        #expect(walk.delaysMilliseconds == [100, 50])
        #expect(walk.loopCount == 3)
        #expect(!walk.hasSeparateStill)
    }

    @Test func `a still before the first control is not of the animation`() throws {
        let walk = try walk(
            signature + header + animation(plays: 0) + data + control(1, 10) + chunk("fdAT") + control(1, 10) + end)
        #expect(walk.hasSeparateStill)
        #expect(walk.frames == 2)
    }

    @Test func `every cut is corrupt`() {
        let whole = signature + header + data + end
        for length in 8..<whole.count {
            let error = #expect(throws: AttachPrepError.self) { try walk(Array(whole.prefix(length))) }
            #expect(error?.code == .mediaCorrupt)
        }
    }

    @Test func `what follows the end is ignored`() throws {
        #expect(try walk(signature + header + data + end + [1, 2, 3]).width == 30)
    }

    @Test func `more frames than libvips can hold are refused`() {
        let frames = (0...Limits.animationFramesMax).flatMap { _ in control(1, 10) }
        let error = #expect(throws: AttachPrepError.self) {
            try walk(signature + header + animation(plays: 0) + frames + data + end)
        }
        #expect(error?.code == .mediaTooManyFrames)
    }
}
