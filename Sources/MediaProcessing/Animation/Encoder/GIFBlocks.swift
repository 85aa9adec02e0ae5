import SafeArithmetic

/// The blocks of a GIF, as bytes.
///
/// Source: CompuServe, "Graphics Interchange Format 89a"; the NETSCAPE2.0 extension.
enum GIFBlocks {
    static let trailer: [UInt8] = [0x3B]

    // Bounded throughout: lists of bytes, a palette of at most 256 entries, and numbers cut to two bytes.

    /// The beginning, with a palette for all frames where there is one.
    static func header(width: Int, height: Int, palette: GIFPalette?) -> [UInt8] {
        let flags: UInt8 = palette.map { 0xF0 | UInt8($0.tableBits - 1) } ?? 0x70
        return Array("GIF89a".utf8) + number(width) + number(height) + [flags, 0, 0] + (palette?.bytes ?? [])
    }

    /// Says how often it plays, 0 for ever; what plays once says nothing, since the number counts repetitions.
    static func loops(_ plays: Int) -> [UInt8] {
        guard plays != 1 else { return [] }
        let repetitions = plays == 0 ? 0 : max(0, min(plays.subtracting(clamping: 1), 0xFFFF))
        return [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + number(repetitions) + [0]
    }

    /// - Parameter wipes: Whether the frame's rectangle is empty after it was shown, else the frame stays.
    static func control(hundredths: Int, transparent: UInt8?, wipes: Bool) -> [UInt8] {
        let flags: UInt8 = (wipes ? 2 : 1) << 2 | (transparent == nil ? 0 : 1)
        return [0x21, 0xF9, 4, flags] + number(hundredths) + [transparent ?? 0, 0]
    }

    /// The delay of a frame whose blocks begin there.
    static func hundredths(in bytes: [UInt8], at start: Int) -> Int {
        Int(bytes[start + 4]) | Int(bytes[start + 5]) << 8
    }

    /// Shows a frame whose blocks begin there for longer.
    static func extend(by more: Int, in bytes: inout [UInt8], at start: Int) {
        let sum = min(0xFFFF, hundredths(in: bytes, at: start).adding(clamping: more))
        bytes.replaceSubrange(start + 4..<start + 6, with: number(sum))
    }

    /// - Parameter palette: The frame's own; nil for that of all frames.
    static func image(_ area: PixelArea, palette: GIFPalette?, _ rootBits: Int, _ codes: [UInt8]) -> [UInt8] {
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
