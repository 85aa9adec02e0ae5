import RichPush

/// Where the frames of an animated PNG lie, and what they share.
///
/// Source: W3C, "Portable Network Graphics, Third Edition", 11.3.6.
struct PNGFrameWalk {
    /// A frame: its place on the canvas, what it does to it, and where its data is.
    struct Frame {
        var left = 0
        var top = 0
        var width = 0
        var height = 0
        /// 0 leaves it, 1 clears its rectangle, 2 brings back what was there.
        var disposal = 0
        /// Whether it is laid over what is there, else it takes its place.
        var blends = false
        /// Data of `IDAT` or `fdAT`, without the sequence numbers.
        var data: [Range<Int>] = []
    }

    private(set) var frames: [Frame] = []
    /// The header's bytes behind width and height, and whole chunks that every frame's picture needs.
    private(set) var headerRest: [UInt8] = []
    private(set) var shared: [UInt8] = []

    private static let sharedTypes: Set<String> = ["PLTE", "tRNS", "iCCP", "gAMA", "cHRM", "sRGB", "sBIT"]

    // Bounded throughout: `PNGChunkWalk` has seen that each chunk ends in the file; places and sides have four bytes.

    /// Walks a file that `PNGChunkWalk` has found whole.
    ///
    /// - Throws: `media.corrupt` when a frame lies outside the canvas, has no data, or a checksum is wrong.
    static func walk(_ window: ByteWindow, width: Int, height: Int) throws -> PNGFrameWalk {
        var walk = PNGFrameWalk()
        var offset = 8
        while true {
            let length = try window.bigEndian(at: offset, bytes: 4)
            if length > window.size - offset - 12 { throw window.cut }
            let type = try window.characters(at: offset + 4, count: 4)
            if type == "IEND" { break }
            try walk.read(type, at: offset + 8, length: length, of: window)
            offset += 12 + length
        }
        for frame in walk.frames {
            let isInside = frame.left + frame.width <= width && frame.top + frame.height <= height
            guard isInside, frame.width > 0, frame.height > 0, !frame.data.isEmpty else {
                throw window.broken("a frame outside the canvas, or empty")
            }
        }
        return walk
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

    /// The data is written anew under a checksum of ours, so the file's own is looked at here.
    private static func check(at offset: Int, length: Int, of window: ByteWindow) throws {
        let declared = try window.bigEndian(at: offset + length, bytes: 4)
        let computed = try PNGChecksum.of(offset - 4..<offset + length, in: window)
        if Int(computed) != declared { throw window.broken("a wrong checksum at \(offset)") }
    }
}

extension ByteWindow {
    /// A run of any length, read window by window.
    func run(_ range: Range<Int>) throws -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= size else { throw cut }
        // Bounded throughout: the run lies in the file.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = min(Limits.walkWindowBytes, range.upperBound - offset)
            bytes += try whole(at: offset, count: count)
            offset += count
        }
        return bytes
    }
}
