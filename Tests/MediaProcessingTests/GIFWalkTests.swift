import MediaProcessing
import RichPush
import Testing

@Suite struct GIFWalkTests {
    private let screen: [UInt8] = Array("GIF89a".utf8) + [10, 0, 20, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
    private let image: [UInt8] = [0x2C, 0, 0, 0, 0, 10, 0, 20, 0, 0, 2, 3, 1, 2, 3, 0]

    private func control(delay: Int) -> [UInt8] { [0x21, 0xF9, 4, 0] + WalkBytes.littleEndian(delay, 2) + [0, 0] }

    private func loops(_ count: Int) -> [UInt8] {
        [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + WalkBytes.littleEndian(count, 2) + [0]
    }

    private func walk(_ bytes: [UInt8]) throws -> GIFParser { try GIFParser.walk(WalkBytes.window(bytes)) }

    private func code(_ bytes: [UInt8]) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try walk(bytes) }?.code
    }

    @Test func `frames, delays, size and loops are read`() throws {
        let walk = try walk(screen + loops(0) + control(delay: 7) + image + control(delay: 20) + image + [0x3B])
        #expect((walk.width, walk.height, walk.frames, walk.loopCount) == (10, 20, 2, 0))
        #expect(walk.delaysMilliseconds == [70, 200])
        #expect(abs(walk.duration - 0.27) < 1e-9)
    }

    @Test func `without an extension it plays once, with n repetitions n and one more`() throws {
        #expect(try walk(screen + image + [0x3B]).loopCount == 1)
        #expect(try walk(screen + loops(3) + image + [0x3B]).loopCount == 4)
    }

    @Test func `a delay of up to a hundredth lasts a tenth`() throws {
        #expect(try walk(screen + control(delay: 1) + image + [0x3B]).duration == 0.1)
    }

    @Test func `every cut before the trailer is corrupt`() {
        let whole = screen + loops(0) + control(delay: 7) + image + [0x3B]
        for length in 6..<whole.count { #expect(code(Array(whole.prefix(length))) == .mediaCorrupt) }
    }

    @Test func `what follows the trailer is ignored`() throws {
        #expect(try walk(screen + image + [0x3B, 1, 2, 3]).frames == 1)
    }

    @Test func `interlace and local color tables are seen`() throws {
        let local: [UInt8] = [0x2C, 0, 0, 0, 0, 10, 0, 20, 0, 0xC0, 1, 2, 3, 4, 5, 6, 2, 1, 9, 0]
        let walk = try walk(screen + local + image + [0x3B])
        #expect(walk.blocks.map(\.isInterlaced) == [true, false])
        #expect(walk.blocks.map(\.colors) == [29..<35, 13..<19])
    }

    @Test func `no picture and no GIF are corrupt`() {
        #expect(code(screen + [0x3B]) == .mediaCorrupt)
        #expect(code(Array("GIF90a".utf8) + [0, 0, 0, 0]) == .mediaCorrupt)
    }

    @Test func `more frames than libvips can hold are refused`() {
        let frames = (0...Limits.animationFramesMax).flatMap { _ in image }
        #expect(code(screen + frames + [0x3B]) == .mediaTooManyFrames)
    }
}
