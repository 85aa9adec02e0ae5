import MediaTypes
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// How the frames of a GIF are composed, on a canvas of 3 x 2 pixels; the colors are black, red, green and blue.
@Suite struct GIFDecoderTests {
    private static let colors: [Character: [UInt8]] = [
        "k": [0, 0, 0, 255], "r": [255, 0, 0, 255], "g": [0, 255, 0, 255], "b": [0, 0, 255, 255], "-": [0, 0, 0, 0],
    ]
    private static let table: [UInt8] = [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]

    /// A frame to write; `indices` are digits.
    struct FrameSpec: Sendable {
        var indices: String
        var left = 0
        var top = 0
        var width = 3
        var height = 2
        var disposal = 0
        var transparent: UInt8?
        var isInterlaced = false

        fileprivate var bytes: [UInt8] {
            let flags = UInt8(disposal << 2) | (transparent == nil ? 0 : 1)
            let control: [UInt8] = [0x21, 0xF9, 4, flags, 10, 0, transparent ?? 0, 0]
            let area = [left, top, width, height].flatMap { ParserBytes.littleEndian($0, 2) }
            let code = GIFDecoderTests.code(indices.compactMap(\.wholeNumberValue))
            return control + [0x2C] + area + [isInterlaced ? 0x40 : 0, 2, UInt8(code.count)] + code + [0]
        }
    }

    /// Codes of three bits, each after a clear code, so that they stay three bits wide.
    private static func code(_ indices: [Int]) -> [UInt8] { packed(indices.flatMap { [(4, 3), ($0, 3)] } + [(5, 3)]) }

    /// Packs codes with their numbers of bits, lowest bit first.
    private static func packed(_ codes: [(Int, Int)]) -> [UInt8] {
        let bits = codes.flatMap { code, count in (0..<count).map { code >> $0 & 1 } }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | UInt8($1.element << $1.offset) }
        }
    }

    private func window(_ frames: [UInt8], table: [UInt8] = table) -> ByteWindow {
        let screen = ParserBytes.littleEndian(3, 2) + ParserBytes.littleEndian(2, 2)
        let bytes = Array("GIF89a".utf8) + screen + [table.isEmpty ? 0 : 0x81, 0, 0] + table + frames + [0x3B]
        return ParserBytes.window(bytes)
    }

    /// Each frame as rows of letters, one per pixel.
    private func shown(_ window: ByteWindow) throws -> [String] {
        let frames = try GIFDecoder(window, deadline: .now + .seconds(60))
        var shown: [String] = []
        while let frame = try frames.next() {
            let letters = stride(from: 0, to: frame.pixels.count, by: 4).map { index in
                let color = Array(frame.pixels[index..<index + 4])
                return Self.colors.first { $0.value == color }.map { String($0.key) } ?? "?"
            }
            shown.append(letters.prefix(3).joined() + "/" + letters.dropFirst(3).joined())
        }
        return shown
    }

    static let cases: [(description: String, frames: [FrameSpec], shown: [String])] = [
        (
            "a frame covers the one before",
            [.init(indices: "111111"), .init(indices: "222222")], ["rrr/rrr", "ggg/ggg"]
        ),
        (
            "a partial frame leaves the rest",
            [.init(indices: "111111"), .init(indices: "3", left: 1, width: 1, height: 1)], ["rrr/rrr", "rbr/rrr"]
        ),
        (
            "a transparent pixel shows the frame below",
            [.init(indices: "111111"), .init(indices: "020202", transparent: 2)], ["rrr/rrr", "krk/rkr"]
        ),
        (
            "the canvas is transparent before the first frame",
            [.init(indices: "12", left: 1, width: 2, height: 1)], ["-rg/---"]
        ),
        (
            "a cleared area is transparent, whatever the background color",
            [
                .init(indices: "111111"), .init(indices: "22", width: 2, height: 1, disposal: 2),
                .init(indices: "3", left: 2, top: 1, width: 1, height: 1),
            ], ["rrr/rrr", "ggr/rrr", "--r/rrb"]
        ),
        (
            "disposal 3 restores the frame before",
            [
                .init(indices: "111111"), .init(indices: "222222", disposal: 3),
                .init(indices: "3", left: 2, top: 1, width: 1, height: 1),
            ], ["rrr/rrr", "ggg/ggg", "rrr/rrb"]
        ),
        (
            "disposal 4 is treated as 3, as browsers do",
            [
                .init(indices: "111111"), .init(indices: "222222", disposal: 4),
                .init(indices: "3", width: 1, height: 1),
            ], ["rrr/rrr", "ggg/ggg", "brr/rrr"]
        ),
        (
            "pixels outside the canvas are clipped",
            [.init(indices: "123123", left: 2, top: 1)], ["---/--r"]
        ),
        (
            "interlaced rows are reordered",
            [
                .init(indices: "111111"), .init(indices: "112233", width: 2, height: 3, isInterlaced: true),
            ], ["rrr/rrr", "rrr/bbr"]
        ),
    ]

    @Test(arguments: cases)
    func `Frames are composed as browsers compose them`(
        description: String, frames: [FrameSpec], shown: [String]
    ) throws {
        #expect(try self.shown(window(frames.flatMap(\.bytes))) == shown, "\(description)")
    }

    @Test(arguments: cases)
    func `A frame read on its own equals the same frame read in sequence`(
        description: String, frames: [FrameSpec], shown: [String]
    ) throws {
        let window = window(frames.flatMap(\.bytes))
        let single = try GIFDecoder(window, deadline: .now + .seconds(60))
        for (number, rows) in shown.enumerated() {
            var pixels: [UInt8] = []
            try unsafe single.readRows(of: number) { unsafe pixels.append(contentsOf: $0) }
            let samples = try single.samples(of: number)
            let expected = rows.filter { $0 != "/" }.flatMap { Self.colors[$0]?.prefix(samples) ?? [] }
            #expect(pixels == expected, "\(description), frame \(number)")
        }
    }

    @Test func `A frame that covers the canvas without transparency has no alpha`() throws {
        let frames = [
            FrameSpec(indices: "111111"), .init(indices: "222222", transparent: 3),
            .init(indices: "22", width: 2, height: 1),
        ]
        let opened = try GIFDecoder(window(frames.flatMap(\.bytes)), deadline: .now + .seconds(60))
        #expect(try (0..<3).map(opened.samples) == [3, 4, 4])
    }

    @Test(arguments: [-1, 1, .max]) func `A frame number out of range is corrupt`(number: Int) throws {
        let opened = try GIFDecoder(window(FrameSpec(indices: "111111").bytes), deadline: .now + .seconds(60))
        #expect(#expect(throws: AttachPrepError.self) { try opened.samples(of: number) }?.code == .mediaCorrupt)
        #expect(
            #expect(throws: AttachPrepError.self) { try unsafe opened.readRows(of: number) { _ in } }?.code
                == .mediaCorrupt)
    }

    @Test func `Without a color table, indices 0 and 1 are black and white`() throws {
        let bytes = FrameSpec(indices: "010101").bytes
        let frames = try GIFDecoder(window(bytes, table: []), deadline: .now + .seconds(60))
        let pixels = try #require(try frames.next()).pixels
        #expect(pixels.prefix(8) == [0, 0, 0, 255, 255, 255, 255, 255])
    }

    @Test func `LZW codes may refer to earlier codes and to the code being defined`() throws {
        // Red; the code being defined (6: red, red); 6 again; green: 1 2 2 1 pixels.
        let code = Self.packed([(4, 3), (1, 3), (6, 3), (6, 3), (2, 4), (5, 4)])
        let image: [UInt8] = [0x2C, 0, 0, 0, 0, 3, 0, 2, 0, 0, 2, UInt8(code.count)] + code + [0]
        #expect(try shown(window(image)) == ["rrr/rrg"])
    }

    @Test(arguments: [
        ("too few pixels", [(4, 3), (1, 3), (5, 3)]), ("an undefined code", [(4, 3), (1, 3), (7, 3)]),
        ("a repetition as the first code", [(4, 3), (6, 3)]),
    ])
    func `Missing or invalid LZW data is corrupt`(description: String, codes: [(Int, Int)]) {
        let code = Self.packed(codes)
        let image: [UInt8] = [0x2C, 0, 0, 0, 0, 3, 0, 2, 0, 0, 2, UInt8(code.count)] + code + [0]
        let error = #expect(throws: AttachPrepError.self) { try shown(window(image)) }
        #expect(error?.code == .mediaCorrupt, "\(description)")
    }
}
