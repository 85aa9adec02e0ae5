import TestSupport

/// GIF and WebP animations that decode to far more than their size suggests.
enum AnimationShapes {
    private typealias Bytes = MediaBytes

    private static func gif(_ width: Int, _ height: Int, _ blocks: [UInt8]) -> [UInt8] {
        Bytes.text("GIF89a") ++ Bytes.littleEndian(width, 2) ++ Bytes.littleEndian(height, 2) ++ [0x80, 0, 0]
            ++ [0, 0, 0, 255, 255, 255] ++ blocks
    }

    private static func frame(_ width: Int = 1, _ height: Int = 1, data: [UInt8] = [2, 0x44, 1, 0]) -> [UInt8] {
        [0x21, 0xF9, 4, 4, 2, 0, 0, 0, 0x2C, 0, 0, 0, 0] ++ Bytes.littleEndian(width, 2)
            ++ Bytes.littleEndian(height, 2)
            ++ [0, 2] ++ data
    }

    static let gifs: [HostileFile] = [
        HostileFile("frames.gif", ["media.too_many_frames"]) { _ in gif(1, 1, Bytes.repeated(frame(), 65_535) ++ [0x3B])
        },
        HostileFile("canvas.gif", ["media.too_many_pixels"]) { _ in gif(65_535, 65_535, frame() ++ [0x3B]) },
        HostileFile("canvases.gif", ["media.too_many_pixels"]) { _ in
            gif(4_000, 4_000, Bytes.repeated(frame(), 1_000) ++ [0x3B])
        },
        HostileFile("frame-outside.gif", ["media.too_many_pixels", "media.corrupt"]) { _ in
            gif(1, 1, frame(65_535, 65_535) ++ [0x3B])
        },
        // An LZW table that is never cleared: each 12-bit code expands to thousands of pixels.
        HostileFile("codes.gif", ["passed", "converted", "media.corrupt"]) { _ in gif(8_000, 8_000, codes() ++ [0x3B])
        },
        HostileFile("extensions.gif", ["media.corrupt", "passed", "shrunk"]) { _ in
            gif(1, 1, Bytes.repeated([0x21, 0xFE, 1, 65, 0], 400_000) ++ frame() ++ [0x3B])
        },
        HostileFile("blocks.gif", ["media.corrupt", "passed", "shrunk"]) { _ in
            gif(1, 1, [0x21, 0xFE] ++ Bytes.repeated([1, 65], 1_000_000) ++ [0] ++ frame() ++ [0x3B])
        },
        HostileFile("endless.gif", ["media.corrupt"]) { _ in
            gif(1, 1, [0x21, 0xFE] ++ Bytes.repeated([1, 65], 500_000))
        },
        HostileFile("terminators.gif", ["media.corrupt", "passed", "shrunk"]) { _ in
            gif(1, 1, frame() ++ Bytes.zeros(1_000_000) ++ [0x3B])
        },
        HostileFile("no-size.gif", ["media.corrupt", "passed", "converted"]) { _ in gif(0, 0, frame() ++ [0x3B]) },
        HostileFile("code-size.gif", ["media.corrupt"]) { _ in
            gif(1, 1, [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0xFF, 2, 0x44, 1, 0, 0x3B])
        },
    ]

    /// A frame of 8,000 x 8,000 pixels of one color, at the highest compression of LZW.
    private static func codes() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = 0
        var bits = 0
        func put(_ code: Int, _ width: Int) {
            buffer |= code << bits
            bits += width
            while bits >= 8 {
                bytes.append(UInt8(buffer & 255))
                buffer >>= 8
                bits -= 8
            }
        }
        put(4, 3)
        put(0, 3)
        var (next, width, pixels) = (6, 3, 1)
        while pixels < 64_000_000 {
            // The string of the newest code is one pixel longer than the string before it.
            let code = min(next, 4_095)
            put(code, width)
            pixels += code - 4
            if next < 4_096 { next += 1 }
            if next == 1 << width, width < 12 { width += 1 }
        }
        put(5, width)
        put(0, 8)
        var blocks: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 255) {
            let part = bytes[start..<min(start + 255, bytes.count)]
            blocks += [UInt8(part.count)] ++ Array(part)
        }
        return frame(8_000, 8_000, data: blocks ++ [0])
    }

    private static func webp(_ chunks: [UInt8]) -> [UInt8] { Bytes.riff("RIFF", Bytes.text("WEBP") ++ chunks) }

    private static func extended(_ width: Int, _ height: Int, flags: UInt8 = 2) -> [UInt8] {
        Bytes.riff("VP8X", [flags, 0, 0, 0] ++ Bytes.littleEndian(width - 1, 3) ++ Bytes.littleEndian(height - 1, 3))
    }

    /// A lossless image of one color: five trivial prefix codes and no pixel data.
    private static func lossless(_ width: Int, _ height: Int) -> [UInt8] {
        let size = (width - 1) | (height - 1) << 14
        return Bytes.riff("VP8L", [0x2F] ++ Bytes.littleEndian(size, 4) ++ [0x07, 0x10, 0x11, 0x11, 0x88, 0x88, 0x08])
    }

    private static func animated(_ width: Int, _ height: Int, frames: Int, side: Int = 1) -> [UInt8] {
        let header = Bytes.zeros(6) ++ Bytes.littleEndian(side - 1, 3) ++ Bytes.littleEndian(side - 1, 3)
        let frame = Bytes.riff("ANMF", header ++ [100, 0, 0, 0] ++ lossless(side, side))
        return webp(extended(width, height) ++ Bytes.riff("ANIM", Bytes.zeros(6)) ++ Bytes.repeated(frame, frames))
    }

    static let webps: [HostileFile] = [
        HostileFile("lossless.webp", ["media.too_many_pixels", "media.corrupt"]) { _ in webp(lossless(16_384, 16_384))
        },
        HostileFile("lossless-large.webp", ["converted", "media.corrupt"]) { _ in webp(lossless(10_900, 10_900)) },
        HostileFile("canvas.webp", ["media.too_many_pixels", "media.corrupt"]) { _ in
            webp(extended(16_777_216, 16_777_216, flags: 0) ++ lossless(1, 1))
        },
        HostileFile("canvas-animated.webp", ["media.too_many_pixels"]) { _ in
            animated(16_777_216, 16_777_216, frames: 2)
        },
        HostileFile("frames.webp", ["media.too_many_frames"]) { _ in animated(16, 16, frames: 65_535) },
        HostileFile("frames-large.webp", ["media.too_many_pixels"]) { _ in animated(4_000, 4_000, frames: 1_000) },
        HostileFile("frame-outside.webp", ["media.corrupt"]) { _ in animated(16, 16, frames: 3, side: 4_096) },
        HostileFile("no-frames.webp", ["media.corrupt"]) { _ in
            webp(extended(16, 16) ++ Bytes.riff("ANIM", Bytes.zeros(6)))
        },
        HostileFile("chunk.webp", ["media.corrupt"]) { _ in webp(Bytes.riff("VP8X", Bytes.zeros(10), size: 0xFFFF_FFFF))
        },
        HostileFile("unknown.webp", ["media.corrupt", "converted"]) { _ in
            webp(extended(1, 1, flags: 0) ++ Bytes.repeated(Bytes.riff("ABCD", []), 500_000) ++ lossless(1, 1))
        },
        HostileFile("profile.webp", ["media.corrupt", "converted"]) { _ in
            webp(extended(1, 1, flags: 0x20) ++ Bytes.riff("ICCP", Bytes.zeros(16_000_000)) ++ lossless(1, 1))
        },
    ]
}
