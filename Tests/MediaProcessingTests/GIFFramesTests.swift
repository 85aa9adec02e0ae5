import RichPush
import Testing

@testable import MediaProcessing

/// How a GIF's frames are composed, on a canvas of 3 x 2 pixels; the colours are black, red, green and blue.
@Suite struct GIFFramesTests {
    private static let colours: [Character: [UInt8]] = [
        "k": [0, 0, 0, 255], "r": [255, 0, 0, 255], "g": [0, 255, 0, 255], "b": [0, 0, 255, 255], "-": [0, 0, 0, 0],
    ]
    private static let table: [UInt8] = [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]

    /// A frame as it is written; `indices` are digits.
    struct Written: Sendable {
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
            let place = [left, top, width, height].flatMap { WalkBytes.littleEndian($0, 2) }
            let code = GIFFramesTests.code(indices.compactMap(\.wholeNumberValue))
            return control + [0x2C] + place + [isInterlaced ? 0x40 : 0, 2, UInt8(code.count)] + code + [0]
        }
    }

    /// Codes of three bits, each behind a clear code, so that they stay so short.
    private static func code(_ indices: [Int]) -> [UInt8] { packed(indices.flatMap { [(4, 3), ($0, 3)] } + [(5, 3)]) }

    /// Numbers and their bits, the lowest first.
    private static func packed(_ codes: [(Int, Int)]) -> [UInt8] {
        let bits = codes.flatMap { code, count in (0..<count).map { code >> $0 & 1 } }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) { $0 | UInt8($1.element << $1.offset) }
        }
    }

    private func window(_ frames: [UInt8], table: [UInt8] = table) -> ByteWindow {
        let screen = WalkBytes.littleEndian(3, 2) + WalkBytes.littleEndian(2, 2)
        let bytes = Array("GIF89a".utf8) + screen + [table.isEmpty ? 0 : 0x81, 0, 0] + table + frames + [0x3B]
        return WalkBytes.window(bytes)
    }

    /// Each frame as rows of letters.
    private func shown(_ window: ByteWindow) throws -> [String] {
        let frames = try GIFDecoder(window, deadline: .now + .seconds(60))
        var shown: [String] = []
        while let frame = try frames.next() {
            let letters = stride(from: 0, to: frame.pixels.count, by: 4).map { place in
                let colour = Array(frame.pixels[place..<place + 4])
                return Self.colours.first { $0.value == colour }.map { String($0.key) } ?? "?"
            }
            shown.append(letters.prefix(3).joined() + "/" + letters.dropFirst(3).joined())
        }
        return shown
    }

    static let cases: [(what: String, frames: [Written], shown: [String])] = [
        (
            "a frame covers the one before",
            [.init(indices: "111111"), .init(indices: "222222")], ["rrr/rrr", "ggg/ggg"]
        ),
        (
            "a part leaves the rest",
            [.init(indices: "111111"), .init(indices: "3", left: 1, width: 1, height: 1)], ["rrr/rrr", "rbr/rrr"]
        ),
        (
            "what is transparent shows what lies below",
            [.init(indices: "111111"), .init(indices: "020202", transparent: 2)], ["rrr/rrr", "krk/rkr"]
        ),
        ("nothing lies below the first frame", [.init(indices: "12", left: 1, width: 2, height: 1)], ["-rg/---"]),
        (
            "a cleared area is transparent, whatever colour the background says",
            [
                .init(indices: "111111"), .init(indices: "22", width: 2, height: 1, disposal: 2),
                .init(indices: "3", left: 2, top: 1, width: 1, height: 1),
            ], ["rrr/rrr", "ggr/rrr", "--r/rrb"]
        ),
        (
            "a restored area is as before",
            [
                .init(indices: "111111"), .init(indices: "222222", disposal: 3),
                .init(indices: "3", left: 2, top: 1, width: 1, height: 1),
            ], ["rrr/rrr", "ggg/ggg", "rrr/rrb"]
        ),
        (
            "four is taken for three, as browsers take it",
            [
                .init(indices: "111111"), .init(indices: "222222", disposal: 4),
                .init(indices: "3", width: 1, height: 1),
            ], ["rrr/rrr", "ggg/ggg", "brr/rrr"]
        ),
        (
            "what lies outside of the canvas is cut off",
            [.init(indices: "123123", left: 2, top: 1)], ["---/--r"]
        ),
        (
            "interlaced rows are put in their places",
            [.init(indices: "112233", width: 2, height: 3, isInterlaced: true)], ["rr-/bb-"]
        ),
    ]

    @Test(arguments: cases)
    func `frames are composed as browsers compose them`(what: String, frames: [Written], shown: [String]) throws {
        #expect(try self.shown(window(frames.flatMap(\.bytes))) == shown, "\(what)")
    }

    @Test(arguments: cases)
    func `a frame read for itself looks as it does in its turn`(
        what: String, frames: [Written], shown: [String]
    ) throws {
        let window = window(frames.flatMap(\.bytes))
        let single = try GIFDecoder(window, deadline: .now + .seconds(60))
        for (number, rows) in shown.enumerated() {
            var pixels: [UInt8] = []
            try unsafe single.readRows(of: number) { unsafe pixels.append(contentsOf: $0) }
            let samples = try single.samples(of: number)
            let wanted = rows.filter { $0 != "/" }.flatMap { Self.colours[$0]?.prefix(samples) ?? [] }
            #expect(pixels == wanted, "\(what), frame \(number)")
        }
    }

    @Test func `a frame that covers everything and hides nothing has no alpha`() throws {
        let frames = [
            Written(indices: "111111"), .init(indices: "222222", transparent: 3),
            .init(indices: "22", width: 2, height: 1),
        ]
        let opened = try GIFDecoder(window(frames.flatMap(\.bytes)), deadline: .now + .seconds(60))
        #expect(try (0..<3).map(opened.samples) == [3, 4, 4])
    }

    @Test(arguments: [-1, 1, .max]) func `a frame that is not there is corrupt`(number: Int) throws {
        let opened = try GIFDecoder(window(Written(indices: "111111").bytes), deadline: .now + .seconds(60))
        #expect(#expect(throws: AttachPrepError.self) { try opened.samples(of: number) }?.code == .mediaCorrupt)
        #expect(
            #expect(throws: AttachPrepError.self) { try unsafe opened.readRows(of: number) { _ in } }?.code
                == .mediaCorrupt)
    }

    @Test func `without any colours, numbers are black and white`() throws {
        let frames = try GIFDecoder(window(Written(indices: "010101").bytes, table: []), deadline: .now + .seconds(60))
        let pixels = try #require(try frames.next()).pixels
        #expect(pixels.prefix(8) == [0, 0, 0, 255, 255, 255, 255, 255])
    }

    @Test func `codes repeat what was written, and themselves`() throws {
        // Red; what comes next (6: red, red); again (6); green: 1 2 2 1.
        let code = Self.packed([(4, 3), (1, 3), (6, 3), (6, 3), (2, 4), (5, 4)])
        let image: [UInt8] = [0x2C, 0, 0, 0, 0, 3, 0, 2, 0, 0, 2, UInt8(code.count)] + code + [0]
        #expect(try shown(window(image)) == ["rrr/rrg"])
    }

    @Test(arguments: [
        ("too few pixels", [(4, 3), (1, 3), (5, 3)]), ("a code that was not made", [(4, 3), (1, 3), (7, 3)]),
        ("a repetition at the beginning", [(4, 3), (6, 3)]),
    ])
    func `pixels that are not there are corrupt`(what: String, codes: [(Int, Int)]) {
        let code = Self.packed(codes)
        let image: [UInt8] = [0x2C, 0, 0, 0, 0, 3, 0, 2, 0, 0, 2, UInt8(code.count)] + code + [0]
        let failure = #expect(throws: AttachPrepError.self) { try shown(window(image)) }
        #expect(failure?.code == .mediaCorrupt, "\(what)")
    }
}
