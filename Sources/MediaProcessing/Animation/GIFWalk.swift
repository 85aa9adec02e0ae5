import RichPush

/// The blocks of a GIF, walked to the trailer: frames, delays and loops, and that the file is whole, to the last pixel.
///
/// Nothing else tells: every decoder shows a cut GIF without an error.
/// Source: CompuServe, "Graphics Interchange Format 89a"; the NETSCAPE2.0 extension.
package struct GIFWalk: Sendable, Hashable {
    /// The canvas, in pixels.
    package private(set) var width = 0
    package private(set) var height = 0
    /// The frames in the order in which they are shown.
    package private(set) var blocks: [GIFFrameBlock] = []
    /// How often it plays: 0 is for ever, 1 without an extension. The extension counts repetitions, so one more.
    package private(set) var loopCount = 1

    /// Whether it carries comments or application blocks other than its loops and its colour profile.
    package private(set) var hasMetadata = false

    /// What is wrong with a frame's data, where that was looked for.
    package private(set) var damage: String?

    /// What an extension says of the frame behind it.
    private var pending = GIFFrameBlock()
    /// Colours of frames without their own.
    private var sharedColours = 0..<0
    private let countsPixels: Bool

    private init(countsPixels: Bool) { self.countsPixels = countsPixels }

    /// Pictures of the file.
    package var frames: Int { blocks.count }

    /// Delay of each frame in milliseconds, as the file has it; 0 where it says nothing.
    package var delaysMilliseconds: [Int] { blocks.map(\.delay) }

    /// Whether nothing is shown in places: browsers and iOS draw no background there.
    package var hasTransparency: Bool {
        blocks.contains { $0.transparent != nil } || blocks.first?.covers(width: width, height: height) == false
    }

    /// Seconds of one play as browsers and iOS show it: a delay of up to 10 ms is taken for 100 ms.
    package var duration: Double {
        delaysMilliseconds.reduce(0.0) { $0 + Double($1 <= 10 ? 100 : $1) / 1000 }
    }

    /// Pixels from the canvas's corner to the last one that is drawn.
    var drawnWidth: Int { blocks.map(\.right).max() ?? 0 }
    var drawnHeight: Int { blocks.map(\.bottom).max() ?? 0 }

    // Bounded throughout: an offset lies in the file when it is added to, since a byte was read there; lengths have one
    // byte, all other numbers two.

    /// Walks the file up to the trailer; what follows it is nobody's.
    ///
    /// - Parameter countsPixels: Whether the frames' data is looked at, for `damage`.
    /// - Throws: `media.corrupt` when a block is cut or the trailer is missing, `media.too_many_frames`.
    package static func walk(_ window: ByteWindow, countsPixels: Bool = false) throws -> GIFWalk {
        let signature = try window.characters(at: 0, count: 6)
        guard ["GIF87a", "GIF89a"].contains(signature) else { throw window.broken("no GIF signature") }
        var walk = GIFWalk(countsPixels: countsPixels)
        walk.width = try window.littleEndian(at: 6, bytes: 2)
        walk.height = try window.littleEndian(at: 8, bytes: 2)
        walk.sharedColours = 13..<13 + colourTableBytes(try window.byte(at: 10))
        var offset = walk.sharedColours.upperBound
        while let next = try walk.block(at: offset, of: window) { offset = next }
        // The trailer is one byte; what follows it is no part of the picture.
        if offset + 1 < window.size { walk.hasMetadata = true }
        if walk.frames == 0 { throw window.broken("no frame") }
        // A canvas without a size is as large as what is drawn on it.
        if walk.width == 0 { walk.width = walk.drawnWidth }
        if walk.height == 0 { walk.height = walk.drawnHeight }
        return walk
    }

    private static func colourTableBytes(_ flags: UInt8) -> Int {
        flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0
    }

    /// Steps over the block at an offset; nil at the trailer.
    private mutating func block(at offset: Int, of window: ByteWindow) throws -> Int? {
        switch try window.byte(at: offset) {
        case 0x2C: return try frame(at: offset, of: window)
        case 0x21: return try block(extension: offset, of: window)
        case 0x3B: return nil
        // Some writers end their blocks twice.
        case 0x00: return offset + 1
        default: throw window.broken("no block at \(offset)")
        }
    }

    private mutating func frame(at offset: Int, of window: ByteWindow) throws -> Int {
        let flags = try window.byte(at: offset + 9)
        if frames == Limits.animationFramesMax { throw tooManyFrames("GIF") }
        var block = pending
        pending = GIFFrameBlock()
        block.left = try window.littleEndian(at: offset + 1, bytes: 2)
        block.top = try window.littleEndian(at: offset + 3, bytes: 2)
        block.width = try window.littleEndian(at: offset + 5, bytes: 2)
        block.height = try window.littleEndian(at: offset + 7, bytes: 2)
        block.isInterlaced = flags & 0x40 != 0
        let ownColours = offset + 10..<offset + 10 + Self.colourTableBytes(flags)
        block.colours = ownColours.isEmpty ? sharedColours : ownColours
        block.code = ownColours.upperBound
        blocks.append(block)
        guard countsPixels, damage == nil else { return try Self.end(ofSubBlocksAt: block.code + 1, of: window) }
        var code = LZWDecoder(codeBits: Int(try window.byte(at: block.code)), pixels: block.width * block.height)
        var isCode = true
        let end = try Self.end(ofSubBlocksAt: block.code + 1, of: window) {
            if isCode { isCode = unsafe code.take($0, into: nil) }
        }
        if !isCode { damage = "no LZW code in frame \(frames)" }
        if isCode, !code.isComplete { damage = "pixels are missing in frame \(frames)" }
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
        // The second is a mistake that many writers have made.
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

    /// Steps over sub-blocks, and gives what stands behind their end.
    ///
    /// - Parameter take: Given the content of each.
    static func end(
        ofSubBlocksAt start: Int, of window: ByteWindow, _ take: (ArraySlice<UInt8>) throws -> Void = { _ in }
    ) throws -> Int {
        var offset = start
        while true {
            let size = Int(try window.byte(at: offset))
            if size > 0 { try take(window.whole(at: offset + 1, count: size)) }
            offset += 1 + size
            if size == 0 { return offset }
        }
    }
}

/// What is thrown for an animation of more frames than we read.
func tooManyFrames(_ noun: String) -> AttachPrepError {
    AttachPrepError(
        .mediaTooManyFrames, "The \(noun) has more than \(Limits.animationFramesMax) frames; send a shorter one.")
}
