import AttachPrepModel
import MediaLibraries
import MediaTypes

/// Decodes and composes the frames of an animated PNG. Each frame is wrapped as a PNG and decoded by libvips with color
/// management, which neither libvips nor libav applies to a whole APNG.
final class APNGDecoder: AnimationDecoder {
    let width: Int
    let height: Int
    let loopCount: Int
    private let delays: [Int]
    private let parser: APNGParser
    private let window: ByteWindow
    private let colors: DeclaredColors?
    private let deadline: ContinuousClock.Instant
    private var canvas: [UInt8]
    private var number = 0

    var count: Int { delays.count }

    init(_ descriptor: CInt, deadline: ContinuousClock.Instant) throws {
        window = try ByteWindow(descriptor: descriptor, noun: "PNG", deadline: deadline)
        let chunks = try PNGParser.parse(window)
        try ImageLimits.check(width: chunks.width, height: chunks.height, frames: chunks.frames)
        parser = try APNGParser.parse(window, width: chunks.width, height: chunks.height)
        guard chunks.isAnimated else {
            throw AttachPrepError(.mediaUnsupported, "The PNG is not animated; convert it as a still.")
        }
        colors = try DeclaredColors.png(window)
        (width, height, loopCount) = (chunks.width, chunks.height, chunks.loopCount)
        delays = chunks.delaysMilliseconds
        self.deadline = deadline
        // Bounded: `ImageLimits` have been checked.
        canvas = [UInt8](repeating: 0, count: chunks.width * chunks.height * 4)
    }

    func next() throws -> AnimationFrame? {
        guard number < count else { return nil }
        try checkDeadline(deadline)
        defer { number += 1 }
        let frame = parser.frames[number]
        let before = frame.disposal == 2 && number > 0 ? canvas : nil
        composite(try pixels(of: frame), frame: frame)
        let shown = canvas
        if let before { canvas = before } else if frame.disposal != 0 { clear(frame) }
        return AnimationFrame(pixels: shown, delayMilliseconds: AnimationDecoders.shown(delays[number]))
    }

    private func pixels(of frame: APNGParser.Frame) throws -> [UInt8] {
        let image = try Image.open(encoded: file(of: frame), isWhole: true)
        guard image.width == frame.width, image.height == frame.height else { throw window.broken("size of a frame") }
        let pixels = try (colors?.inSRGB(image) ?? image.inSRGB()).withAlpha().pixels()
        // Bounded: by the canvas.
        guard pixels.count == frame.width * frame.height * 4 else { throw window.broken("pixel format of a frame") }
        return pixels
    }

    // MARK: Wrapping a frame as PNG

    private func file(of frame: APNGParser.Frame) throws -> [UInt8] {
        // Bounded throughout: array concatenation.
        let size = PNGChunk.bigEndian(frame.width) + PNGChunk.bigEndian(frame.height)
        var file = PNGChunk.signature + PNGChunk.bytes("IHDR", content: size + parser.headerRest) + parser.shared
        for range in frame.data { file += PNGChunk.bytes("IDAT", content: try window.run(range)) }
        return file + PNGChunk.bytes("IEND", content: [])
    }

    // MARK: Compositing

    // Bounded throughout: frames lie on the canvas, as `APNGParser` has checked, and have width times height
    // pixels; a mean of bytes is a byte, and its weights are not all 0.

    private func composite(_ pixels: [UInt8], frame: APNGParser.Frame) {
        for row in 0..<frame.height {
            let source = row * frame.width * 4
            let target = ((frame.top + row) * width + frame.left) * 4
            if frame.blends {
                for column in 0..<frame.width {
                    blend(pixels, source: source + column * 4, target: target + column * 4)
                }
            } else {
                canvas.replaceSubrange(
                    target..<target + frame.width * 4, with: pixels[source..<source + frame.width * 4])
            }
        }
    }

    private func blend(_ pixels: [UInt8], source: Int, target: Int) {
        let (over, under) = (Int(pixels[source + 3]), Int(canvas[target + 3]))
        if over == 0 { return }
        let kept = under * (255 - over)
        let sum = over * 255 + kept
        for band in 0..<3 {
            let mixed = Int(pixels[source + band]) * over * 255 + Int(canvas[target + band]) * kept
            canvas[target + band] = UInt8((mixed + sum / 2) / sum)
        }
        canvas[target + 3] = UInt8((sum + 127) / 255)
    }

    private func clear(_ frame: APNGParser.Frame) {
        for row in frame.top..<frame.top + frame.height {
            let start = (row * width + frame.left) * 4
            canvas.replaceSubrange(
                start..<start + frame.width * 4, with: repeatElement(0, count: frame.width * 4))
        }
    }
}

/// Parses the frames of an animated PNG, and the chunks they share.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", 11.3.6.
struct APNGParser {
    /// A frame: its rectangle on the canvas, its disposal and blending, and its data.
    struct Frame {
        var left = 0
        var top = 0
        var width = 0
        var height = 0
        /// 0 keeps the frame, 1 clears its rectangle, 2 restores the previous canvas.
        var disposal = 0
        /// Whether the frame is blended over the canvas; otherwise it replaces it.
        var blends = false
        /// Data of `IDAT` or `fdAT`, without the sequence numbers.
        var data: [Range<Int>] = []
    }

    private(set) var frames: [Frame] = []
    /// The bytes of `IHDR` after width and height; `shared` holds whole chunks that every frame needs.
    private(set) var headerRest: [UInt8] = []
    private(set) var shared: [UInt8] = []

    private static let sharedTypes: Set<String> = ["PLTE", "tRNS", "iCCP", "gAMA", "cHRM", "sRGB", "cICP", "sBIT"]

    // Bounded throughout: `PNGParser` has checked that each chunk ends in the file; offsets and sides have four bytes.

    /// Parses a file that `PNGParser` has found complete.
    ///
    /// - Throws: `media.corrupt` when a frame lies outside the canvas, has no data, or a checksum is wrong.
    static func parse(_ window: ByteWindow, width: Int, height: Int) throws -> APNGParser {
        var parser = APNGParser()
        var offset = 8
        while true {
            let length = try window.bigEndian(at: offset, bytes: 4)
            if length > window.size - offset - 12 { throw window.cut }
            let type = try window.characters(at: offset + 4, count: 4)
            if type == "IEND" { break }
            try parser.read(type, at: offset + 8, length: length, of: window)
            offset += 12 + length
        }
        for frame in parser.frames {
            let isInside = frame.left + frame.width <= width && frame.top + frame.height <= height
            guard isInside, frame.width > 0, frame.height > 0, !frame.data.isEmpty else {
                throw window.broken("a frame outside the canvas, or empty")
            }
        }
        return parser
    }

    private mutating func read(_ type: String, at offset: Int, length: Int, of window: ByteWindow) throws {
        switch type {
        case "IHDR" where length == 13:
            headerRest = Array(try window.whole(at: offset + 8, count: 5))
        case "fcTL" where length >= 26:
            frames.append(try Self.frame(at: offset, of: window))
        case "IDAT":
            try Self.check(at: offset, length: length, of: window)
            if !frames.isEmpty { frames[frames.count - 1].data.append(offset..<offset + length) }
        case "fdAT" where length >= 4 && !frames.isEmpty:
            try Self.check(at: offset, length: length, of: window)
            frames[frames.count - 1].data.append(offset + 4..<offset + length)
        case _ where Self.sharedTypes.contains(type) && frames.allSatisfy({ $0.data.isEmpty }):
            guard shared.count + length <= Limits.pngSharedBytesMax else {
                throw window.broken("more than \(Limits.pngSharedBytesMax) bytes of palette and profile")
            }
            shared += try window.run(offset - 8..<offset + length + 4)
        default: break
        }
    }

    private static func frame(at offset: Int, of window: ByteWindow) throws -> Frame {
        var frame = Frame()
        frame.width = try window.bigEndian(at: offset + 4, bytes: 4)
        frame.height = try window.bigEndian(at: offset + 8, bytes: 4)
        frame.left = try window.bigEndian(at: offset + 12, bytes: 4)
        frame.top = try window.bigEndian(at: offset + 16, bytes: 4)
        frame.disposal = Int(try window.byte(at: offset + 24))
        frame.blends = try window.byte(at: offset + 25) == 1
        return frame
    }

    /// The data gets a new checksum when it is wrapped, so the file's own is verified here.
    private static func check(at offset: Int, length: Int, of window: ByteWindow) throws {
        // Bounded throughout: the chunk lies in the file.
        let declared = try window.bigEndian(at: offset + length, bytes: 4)
        var computed: UInt32 = 0
        try window.forEachPart(of: offset - 4..<offset + length) { computed = PNGChunk.checksum($0, after: computed) }
        if Int(clamping: computed) != declared { throw window.broken("wrong checksum at \(offset)") }
    }
}

extension ByteWindow {
    /// Reads a range of any length, window by window.
    func run(_ range: Range<Int>) throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= size else { throw cut }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        // Bounded: array concatenation.
        try forEachPart(of: range) { bytes += $0 }
        return bytes
    }

    /// Calls `body` with a range of the file, window by window.
    func forEachPart(of range: Range<Int>, _ body: (ArraySlice<UInt8>) -> Void) throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            // Bounded throughout: the range lies in the file.
            let count = min(Limits.parseWindowBytes, range.upperBound - offset)
            body(try whole(at: offset, count: count))
            offset += count
        }
    }
}

extension Limits {
    /// Palette, color profile and other data that every frame of an animated PNG is decoded with: a profile is a few
    /// KB, a printer's 2 MB.
    static let pngSharedBytesMax = 4_000_000
}
