import SafeArithmetic

/// Encodes an animation as GIF frame by frame, and counts its bytes.
struct GIFEncoder {
    private let loopCount: Int
    private var writer: GIFFrameWriter
    private var waiting: (pixels: [PackedColor], hundredths: Int)?
    private(set) var bytes: [UInt8]
    /// Bytes of each frame that was written.
    private(set) var frameBytes: [Int] = []

    /// - Parameters:
    ///   - width: Pixels, at most 65,535; `height` likewise.
    ///   - loopCount: Number of plays; 0 is infinite.
    init(width: Int, height: Int, loopCount: Int, settings: GIFSettings) {
        precondition((1...0xFFFF).contains(width) && (1...0xFFFF).contains(height), "a GIF's sides have 16 bits")
        self.loopCount = loopCount
        writer = GIFFrameWriter(width: width, height: height, settings: settings)
        bytes =
            GIFBlocks.header(width: width, height: height, palette: settings.sharedPalette)
            + GIFBlocks.loops(loopCount)
    }

    /// Adds a frame; it is written when the next one is added.
    ///
    /// - Parameters:
    ///   - pixels: RGBA, 8 bits each, not premultiplied.
    ///   - hundredths: Delay in hundredths of a second.
    mutating func add(_ pixels: [UInt8], hundredths: Int) {
        let frame = PackedColor.pixels(of: pixels)
        writeWaiting(next: frame)
        waiting = (frame, hundredths)
    }

    /// Extends the delay of the last frame.
    mutating func extend(by hundredths: Int) {
        guard let frame = waiting else { return }
        waiting = (frame.pixels, frame.hundredths.adding(clamping: hundredths))
    }

    private mutating func writeWaiting(next: [PackedColor]?) {
        guard let frame = waiting else { return }
        let written = writer.write(frame.pixels, next: next, hundredths: min(frame.hundredths, 0xFFFF))
        frameBytes.append(written.count)
        bytes += written
    }

    /// Writes the last frame and the trailer.
    mutating func finish() -> [UInt8] {
        writeWaiting(next: nil)
        waiting = nil
        return bytes + GIFBlocks.trailer
    }

    /// Removes the last frame and extends the delay of the one before it; false when it is the only one.
    mutating func dropLast() -> Bool {
        guard waiting == nil, frameBytes.count > 1, let last = frameBytes.popLast(), let own = frameBytes.last else {
            return false
        }
        let start = bytes.count - last
        let hundredths = GIFBlocks.hundredths(in: bytes, at: start)
        bytes.removeLast(last)
        GIFBlocks.extend(by: hundredths, in: &bytes, at: start - own)
        return true
    }
}

/// Settings of the GIF encoder.
struct GIFSettings: Sendable {
    var exactness = GIFExactness.exact
    /// Palette entries, including the transparent one: 2 to 256.
    var colors = 256
    /// One palette for all frames; nil for one per frame.
    var sharedPalette: GIFPalette?
}

/// The blocks of a GIF as bytes.
///
/// Source: CompuServe, "Graphics Interchange Format 89a"; the NETSCAPE2.0 extension.
enum GIFBlocks {
    static let trailer: [UInt8] = [0x3B]

    /// The header, with the global palette if there is one.
    static func header(width: Int, height: Int, palette: GIFPalette?) -> [UInt8] {
        let flags: UInt8 = palette.map { 0xF0 | UInt8($0.tableBits - 1) } ?? 0x70
        return Array("GIF89a".utf8) + number(width) + number(height) + [flags, 0, 0] + (palette?.bytes ?? [])
    }

    /// The loop extension; `plays` of 0 is infinite. It counts repetitions, so a single play has none.
    static func loops(_ plays: Int) -> [UInt8] {
        guard plays != 1 else { return [] }
        let repetitions = plays == 0 ? 0 : max(0, min(plays.subtracting(clamping: 1), 0xFFFF))
        return [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + number(repetitions) + [0]
    }

    /// - Parameter wipes: Whether the frame's rectangle is cleared afterwards; otherwise the frame stays.
    static func control(hundredths: Int, transparent: UInt8?, wipes: Bool) -> [UInt8] {
        let flags: UInt8 = (wipes ? 2 : 1) << 2 | (transparent == nil ? 0 : 1)
        return [0x21, 0xF9, 4, flags] + number(hundredths) + [transparent ?? 0, 0]
    }

    /// The delay of the frame whose blocks begin at `start`.
    static func hundredths(in bytes: [UInt8], at start: Int) -> Int {
        Int(bytes[start + 4]) | Int(bytes[start + 5]) << 8
    }

    /// Extends the delay of the frame whose blocks begin at `start`.
    static func extend(by more: Int, in bytes: inout [UInt8], at start: Int) {
        let sum = min(0xFFFF, hundredths(in: bytes, at: start).adding(clamping: more))
        bytes.replaceSubrange(start + 4..<start + 6, with: number(sum))
    }

    /// - Parameter palette: The frame's own palette; nil to use the global one.
    static func image(_ area: PixelArea, palette: GIFPalette?, rootBits: Int, codes: [UInt8]) -> [UInt8] {
        let flags: UInt8 = palette.map { 0x80 | UInt8($0.tableBits - 1) } ?? 0
        var bytes = [0x2C] + number(area.left) + number(area.top) + number(area.width) + number(area.height) + [flags]
        bytes += palette?.bytes ?? []
        bytes.append(UInt8(rootBits))
        for start in stride(from: 0, to: codes.count, by: 255) {
            let part = codes[start..<min(start + 255, codes.count)]
            bytes.append(UInt8(part.count))
            bytes += part
        }
        return bytes + [0]
    }

    private static func number(_ value: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }
}
