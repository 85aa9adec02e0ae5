import FuzzSupport

@testable import MediaProcessing

/// A strict GIF decoder that shares no code with the encoder.
///
/// Source: CompuServe, "Graphics Interchange Format 89a", and its appendix F.
struct GIFReader {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The displayed canvas after each frame.
    func frames(width: Int, height: Int) -> [[PackedColor]] {
        var frames: [[PackedColor]] = []
        var canvas = [PackedColor](repeating: 0, count: width * height)
        var offset = 13
        let shared = table(bytes[10], at: &offset)
        var control: (transparent: Int?, wipes: Bool) = (nil, false)
        while bytes[offset] != 0x3B {
            if bytes[offset] == 0x21 {
                if bytes[offset + 1] == 0xF9 {
                    let flags = bytes[offset + 3]
                    control = (flags & 1 == 1 ? Int(bytes[offset + 6]) : nil, flags >> 2 & 7 == 2)
                }
                offset += 2
                _ = data(at: &offset)
                continue
            }
            Invariant.hold(bytes[offset] == 0x2C, "a block is a frame or an extension")
            let (left, top) = (number(offset + 1), number(offset + 3))
            let (columns, rows) = (number(offset + 5), number(offset + 7))
            Invariant.hold(left + columns <= width && top + rows <= height, "a frame is on the canvas")
            let flags = bytes[offset + 9]
            offset += 10
            let own = table(flags, at: &offset)
            let bits = Int(bytes[offset])
            offset += 1
            let indexes = Self.decompress(data(at: &offset), bits: bits, count: columns * rows)
            let palette = own.isEmpty ? shared : own
            for (place, index) in indexes.enumerated() where Int(index) != control.transparent {
                canvas[(top + place / columns) * width + left + place % columns] = palette[Int(index)]
            }
            frames.append(canvas)
            if control.wipes {
                for row in top..<top + rows { for column in left..<left + columns { canvas[row * width + column] = 0 } }
            }
        }
        return frames
    }

    private func number(_ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

    private func table(_ flags: UInt8, at offset: inout Int) -> [PackedColor] {
        guard flags & 0x80 != 0 else { return [] }
        defer { offset += 3 << (Int(flags & 7) + 1) }
        return (0..<1 << (Int(flags & 7) + 1)).map {
            let place = offset + $0 * 3
            return PackedColor(red: Int(bytes[place]), green: Int(bytes[place + 1]), blue: Int(bytes[place + 2]))
        }
    }

    private func data(at offset: inout Int) -> [UInt8] {
        var data: [UInt8] = []
        while bytes[offset] != 0 {
            data += bytes[offset + 1...offset + Int(bytes[offset])]
            offset += 1 + Int(bytes[offset])
        }
        offset += 1
        return data
    }

    private static func decompress(_ data: [UInt8], bits: Int, count: Int) -> [UInt8] {
        let (clear, end) = (1 << bits, 1 << bits + 1)
        var strings: [[UInt8]] = []
        var (width, previous, place) = (bits + 1, [UInt8]?.none, 0)
        var indexes: [UInt8] = []
        while true {
            Invariant.hold(place + width <= data.count * 8, "codes do not end early")
            var code = 0
            for bit in 0..<width where data[(place + bit) / 8] >> ((place + bit) % 8) & 1 == 1 { code |= 1 << bit }
            place += width
            if code == end { break }
            if code == clear {
                strings = (0..<clear + 2).map { $0 < clear ? [UInt8($0)] : [] }
                (width, previous) = (bits + 1, nil)
                continue
            }
            let string = code < strings.count ? strings[code] : (previous ?? []) + (previous?.prefix(1) ?? [])
            Invariant.hold(code <= strings.count && !string.isEmpty, "a code is known")
            indexes += string
            if let previous, strings.count < 4_096 { strings.append(previous + string.prefix(1)) }
            if strings.count == 1 << width, width < 12 { width += 1 }
            previous = string
        }
        Invariant.hold(indexes.count == count, "a frame has \(count) pixels, not \(indexes.count)")
        return indexes
    }
}
