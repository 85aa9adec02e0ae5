import AttachPrepModel
import MediaTypes

/// Parses the blocks of a GIF up to the trailer: frames, delays and loops, and that the file is complete.
///
/// This check is necessary because every decoder shows a truncated GIF without an error. Source: CompuServe, "Graphics
/// Interchange Format 89a"; the NETSCAPE2.0 extension.
package struct GIFParser: Sendable, Hashable {
    /// The canvas, in pixels.
    package private(set) var width = 0
    package private(set) var height = 0
    /// The frames in display order.
    package private(set) var blocks: [GIFFrameDescriptor] = []
    /// Number of plays: 0 is infinite, 1 without an extension. The extension counts repetitions, so one is added.
    package private(set) var loopCount = 1

    /// Whether it contains comments or application blocks other than the loop count and the color profile.
    package private(set) var hasMetadata = false

    /// Whether the file ends after a complete frame without the trailer byte.
    package private(set) var isTrailerMissing = false

    /// The damage in a frame's data, if `countsPixels` was set.
    package private(set) var damage: String?

    /// The fields of the graphic control extension before a frame.
    private var pending = GIFFrameDescriptor()
    /// The global color table.
    private var sharedColors = 0..<0
    private let countsPixels: Bool
    /// The last byte of a GIF.
    static let trailer: UInt8 = 0x3B

    private init(countsPixels: Bool) { self.countsPixels = countsPixels }

    /// Number of frames in the file.
    package var frames: Int { blocks.count }

    /// Delay of each frame in milliseconds, as stored; 0 where the file has none.
    package var delaysMilliseconds: [Int] { blocks.map(\.delay) }

    /// Whether parts of the canvas are transparent: browsers and iOS draw no background there.
    package var hasTransparency: Bool {
        blocks.contains { $0.transparent != nil } || blocks.first?.covers(width: width, height: height) == false
    }

    /// Seconds of one play as browsers and iOS show it: a delay of up to 10 ms counts as 100 ms.
    package var duration: Double {
        delaysMilliseconds.reduce(0.0) { $0 + Double($1 <= 10 ? 100 : $1) / 1000 }
    }

    /// The extent of all frames from the canvas's corner, in pixels.
    var drawnWidth: Int { blocks.map(\.right).max() ?? 0 }
    var drawnHeight: Int { blocks.map(\.bottom).max() ?? 0 }

    // Bounded throughout: an offset lies in the file when it is added to, since a byte was read there; lengths have one
    // byte, all other numbers two.

    /// Parses the file up to the trailer; data after it is ignored. The trailer may be missing after a frame.
    ///
    /// - Parameter countsPixels: Whether the frames' data is decoded, for `damage`.
    /// - Throws: `media.corrupt` when a block is truncated, `media.too_many_frames`.
    package static func parse(_ window: ByteWindow, countsPixels: Bool = false) throws -> GIFParser {
        let signature = try window.characters(at: 0, count: 6)
        guard ["GIF87a", "GIF89a"].contains(signature) else { throw window.broken("no GIF signature") }
        var parser = GIFParser(countsPixels: countsPixels)
        parser.width = try window.littleEndian(at: 6, bytes: 2)
        parser.height = try window.littleEndian(at: 8, bytes: 2)
        parser.sharedColors = 13..<13 + colorTableBytes(try window.byte(at: 10))
        var offset = parser.sharedColors.upperBound
        while !parser.isTrailerMissing, let next = try parser.block(at: offset, of: window) {
            parser.isTrailerMissing = next == window.size && parser.blocks.last?.end == next
            offset = next
        }
        // Data after the one-byte trailer is not part of the image.
        if offset + 1 < window.size { parser.hasMetadata = true }
        if parser.frames == 0 { throw window.broken("no frame") }
        parser.fitFirstFrame()
        // A canvas without a size is as large as the extent of its frames.
        if parser.width == 0 { parser.width = parser.drawnWidth }
        if parser.height == 0 { parser.height = parser.drawnHeight }
        return parser
    }

    /// Browsers take the size of a first frame that is larger than the canvas, and draw it at the corner.
    private mutating func fitFirstFrame() {
        guard width > 0, height > 0, let first = blocks.first, first.width > width || first.height > height else {
            return
        }
        (width, height) = (first.width, first.height)
        (blocks[0].left, blocks[0].top) = (0, 0)
    }

    private static func colorTableBytes(_ flags: UInt8) -> Int {
        flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0
    }

    /// Reads the block at an offset and returns the next offset; nil at the trailer.
    private mutating func block(at offset: Int, of window: ByteWindow) throws -> Int? {
        switch try window.byte(at: offset) {
        case 0x2C: return try frame(at: offset, of: window)
        case 0x21: return try block(extension: offset, of: window)
        case Self.trailer: return nil
        // Some writers end their blocks twice.
        case 0x00: return offset + 1
        default: throw window.broken("no block at \(offset)")
        }
    }

    private mutating func frame(at offset: Int, of window: ByteWindow) throws -> Int {
        let flags = try window.byte(at: offset + 9)
        if frames == Limits.animationFramesMax { throw tooManyFrames("GIF") }
        var block = pending
        pending = GIFFrameDescriptor()
        block.left = try window.littleEndian(at: offset + 1, bytes: 2)
        block.top = try window.littleEndian(at: offset + 3, bytes: 2)
        block.width = try window.littleEndian(at: offset + 5, bytes: 2)
        block.height = try window.littleEndian(at: offset + 7, bytes: 2)
        block.isInterlaced = flags & 0x40 != 0
        let ownColors = offset + 10..<offset + 10 + Self.colorTableBytes(flags)
        block.colors = ownColors.isEmpty ? sharedColors : ownColors
        block.code = ownColors.upperBound
        block.end = try end(ofData: block, number: frames + 1, of: window)
        blocks.append(block)
        return block.end
    }

    /// Reads a frame's data, decodes it if `countsPixels` is set, and returns the offset after it.
    private mutating func end(ofData block: GIFFrameDescriptor, number: Int, of window: ByteWindow) throws -> Int {
        guard countsPixels, damage == nil else { return try Self.end(ofSubBlocksAt: block.code + 1, of: window) }
        var code = LZWDecoder(codeBits: Int(try window.byte(at: block.code)), pixels: block.width * block.height)
        var isCode = true
        let end = try Self.end(ofSubBlocksAt: block.code + 1, of: window) {
            if isCode { isCode = unsafe code.decode($0, into: nil) }
        }
        if !isCode { damage = "invalid LZW code in frame \(number)" }
        if isCode, !code.isComplete { damage = "pixels are missing in frame \(number)" }
        return end
    }

    private mutating func block(extension offset: Int, of window: ByteWindow) throws -> Int {
        let label = try window.byte(at: offset + 1)
        let size = Int(try window.byte(at: offset + 2))
        if label == 0xF9, size >= 4 { try readControl(at: offset + 3, of: window) }
        if label == 0xFE { hasMetadata = true }
        if label == 0xFF, size == 11 { try readApplication(at: offset + 3, of: window) }
        return try Self.end(ofSubBlocksAt: offset + 2, of: window)
    }

    private mutating func readControl(at offset: Int, of window: ByteWindow) throws {
        let flags = try window.byte(at: offset)
        switch flags >> 2 & 7 {
        case 2: pending.disposal = .clear
        // 4 is a mistake of many writers.
        case 3, 4: pending.disposal = .restore
        default: pending.disposal = .keep
        }
        pending.delay = try window.littleEndian(at: offset + 1, bytes: 2) * 10
        pending.transparent = flags & 1 != 0 ? try window.byte(at: offset + 3) : nil
    }

    private mutating func readApplication(at offset: Int, of window: ByteWindow) throws {
        let name = try window.characters(at: offset, count: 11)
        if name != "ICCRGBG1012", name != "NETSCAPE2.0", name != "ANIMEXTS1.0" { hasMetadata = true }
        try readLoops(at: offset, of: window)
    }

    private mutating func readLoops(at offset: Int, of window: ByteWindow) throws {
        let name = try window.characters(at: offset, count: 11)
        guard name == "NETSCAPE2.0" || name == "ANIMEXTS1.0" else { return }
        guard try window.byte(at: offset + 11) >= 3, try window.byte(at: offset + 12) & 7 == 1 else { return }
        let repetitions = try window.littleEndian(at: offset + 13, bytes: 2)
        loopCount = repetitions == 0 ? 0 : repetitions + 1
    }

    /// Reads sub-blocks, and returns the offset after their terminator.
    ///
    /// - Parameter body: Called with the content of each.
    static func end(
        ofSubBlocksAt start: Int, of window: ByteWindow, _ body: (ArraySlice<UInt8>) throws -> Void = { _ in }
    ) throws -> Int {
        var offset = start
        while true {
            let size = Int(try window.byte(at: offset))
            if size > 0 { try body(window.whole(at: offset + 1, count: size)) }
            offset += 1 + size
            if size == 0 { return offset }
        }
    }
}

/// The error for an animation with too many frames.
func tooManyFrames(_ noun: String) -> AttachPrepError {
    AttachPrepError(
        .mediaTooManyFrames, "The \(noun) has more than \(Limits.animationFramesMax) frames; send a shorter one.")
}

/// A frame of a GIF as stored: its rectangle, and the offsets of its colors and data.
package struct GIFFrameDescriptor: Sendable, Hashable {
    /// What happens to the canvas after the frame.
    package enum Disposal: Sendable, Hashable {
        case keep
        /// The frame's rectangle becomes transparent.
        case clear
        /// The canvas before the frame is restored.
        case restore
    }

    /// Pixels from the canvas's corner.
    package var left = 0
    package var top = 0
    /// Size in pixels.
    package var width = 0
    package var height = 0
    package var isInterlaced = false
    /// Milliseconds; 0 where the file has none.
    package var delay = 0
    package var disposal = Disposal.keep
    /// The transparent index.
    package var transparent: UInt8?
    /// The range of the frame's color table, three bytes each; empty without one.
    package var colors = 0..<0
    /// Offset of the minimum code size, which the data sub-blocks follow.
    package var code = 0
    /// Offset after the data.
    package var end = 0

    // Bounded throughout: each number has two bytes.
    var right: Int { left + width }
    var bottom: Int { top + height }

    /// Whether it covers the whole canvas.
    func covers(width: Int, height: Int) -> Bool { left == 0 && top == 0 && right >= width && bottom >= height }

    /// The row numbers in stored order; interlaced frames have four passes.
    ///
    /// Source: CompuServe, "Graphics Interchange Format 89a", appendix E.
    var storedRows: [Int] {
        guard isInterlaced else { return Array(0..<height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
    }
}
