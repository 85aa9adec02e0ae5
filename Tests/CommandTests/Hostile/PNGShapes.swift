import TestSupport

/// PNG and APNG files of few bytes with huge declared or decompressed sizes.
enum PNGShapes {
    private typealias Bytes = MediaBytes

    private static func file(_ chunks: [UInt8]...) -> [UInt8] {
        Bytes.pngSignature ++ chunks.flatMap { $0 } ++ Bytes.png("IEND")
    }

    private static let small = Bytes.pngHeader(64, 64, colorType: 0)
    /// 64 rows of 64 zeros and their filter bytes; not a multiple of 258, so extra bytes follow, which readers accept.
    private static let pixels = Bytes.png("IDAT", Bytes.zlibBomb(64 * 65 + 258))
    private static let tooMany: Set<String> = ["media.too_many_pixels"]

    static let all: [HostileFile] = [
        HostileFile("declared.png", tooMany) { _ in file(Bytes.pngHeader(65_000, 65_000), pixels) },
        HostileFile("declared-sides.png", tooMany) { _ in file(Bytes.pngHeader(0x7FFF_FFFF, 0x7FFF_FFFF), pixels) },
        HostileFile("negative.png", ["media.too_many_pixels", "media.corrupt"]) { _ in
            file(Bytes.pngHeader(0xFFFF_FFFF, 1), pixels)
        },
        HostileFile("line.png", tooMany) { _ in file(Bytes.pngHeader(1_000_000, 1), pixels) },
        // 25 megapixels of four 16-bit components: 200 MB of zeros, compressed to 1.3 MB.
        HostileFile("unpacked.png", ["converted", "passed", "shrunk", "media.corrupt", "media.too_many_pixels"]) { _ in
            file(
                Bytes.pngHeader(5_000, 5_000, colorType: 6, depth: 16),
                Bytes.png("IDAT", Bytes.zlibBomb(200_050_000)))
        },
        HostileFile("more-data.png", ["passed", "converted", "media.corrupt"]) { _ in
            file(small, Bytes.png("IDAT", Bytes.zlibBomb(200_000_000)))
        },
        HostileFile("profile.png", ["passed", "converted", "media.corrupt"]) { _ in
            file(small, Bytes.png("iCCP", Bytes.text("bomb\0\0") ++ Bytes.zlibBomb(200_000_000)), pixels)
        },
        HostileFile("text.png", ["passed", "converted", "media.corrupt"]) { _ in
            file(small, Bytes.png("zTXt", Bytes.text("Comment\0\0") ++ Bytes.zlibBomb(200_000_000)), pixels)
        },
        HostileFile("texts.png", ["passed", "converted", "media.corrupt"]) { _ in
            let text = Bytes.png("iTXt", Bytes.text("Comment\0\u{1}\0\0\0") ++ Bytes.zlibBomb(50_000_000))
            return file(small, Bytes.repeated(text, 40), pixels)
        },
        HostileFile("chunks.png", HostileFile.corrupt) { _ in
            file(small, Bytes.repeated(Bytes.png("tEXt", Bytes.text("a\0b")), 300_000), pixels)
        },
        HostileFile("empty-data.png", HostileFile.corrupt) { _ in
            file(small, Bytes.repeated(Bytes.png("IDAT"), 300_000), pixels)
        },
        HostileFile("palette.png", HostileFile.corrupt) { _ in
            file(Bytes.pngHeader(64, 64, colorType: 3), Bytes.png("PLTE", Bytes.zeros(3_000_000)), pixels)
        },
        HostileFile("length.png", HostileFile.corrupt) { _ in
            Bytes.pngSignature ++ small ++ Bytes.bigEndian(0xFFFF_FFFF, 4) ++ Bytes.text("IDAT") ++ Bytes.zeros(64)
        },
        HostileFile("frames.png", ["media.too_many_frames"]) { _ in
            animation(declared: 65_535, frames: 65_535)
        },
        HostileFile("frames-declared.png", ["passed", "converted", "media.corrupt"]) { _ in
            animation(declared: 65_535, frames: 2)
        },
        HostileFile("frame-outside.png", HostileFile.corrupt) { _ in
            animation(declared: 2, frames: 2, side: 0x7FFF_FFFF)
        },
        HostileFile("frame-far.png", HostileFile.corrupt) { _ in animation(declared: 2, frames: 2, left: 0xFFFF_FFFF) },
        HostileFile("frame-profile.png", HostileFile.corrupt) { _ in
            animation(declared: 2, frames: 2, shared: Bytes.png("iCCP", Bytes.text("a\0\0") ++ Bytes.zeros(5_000_000)))
        },
        HostileFile("plays.png", ["converted", "passed"]) { _ in animation(declared: 2, frames: 2, plays: 0xFFFF_FFFF)
        },
        HostileFile("canvas.png", tooMany) { _ in animation(declared: 100, frames: 100, canvas: 10_000) },
    ]

    private static func animation(
        declared: Int, frames: Int, side: Int = 1, left: Int = 0, canvas: Int = 1, plays: Int = 0, shared: [UInt8] = []
    ) -> [UInt8] {
        let dot = Bytes.zlibBomb(258)
        var chunks =
            Bytes.pngHeader(canvas, canvas, colorType: 0)
            ++ Bytes.png("acTL", Bytes.bigEndian(declared, 4) ++ Bytes.bigEndian(plays, 4)) ++ shared
        for frame in 0..<frames {
            let number = max(0, frame * 2 - 1)
            let isFirst = frame == 0
            chunks += Bytes.png(
                "fcTL",
                Bytes.bigEndian(number, 4) ++ Bytes.bigEndian(isFirst ? canvas : side, 4)
                    ++ Bytes.bigEndian(isFirst ? canvas : side, 4) ++ Bytes.bigEndian(isFirst ? 0 : left, 4)
                    ++ Bytes.zeros(4) ++ [0, 1, 0, 10, 0, 0])
            chunks += isFirst ? Bytes.png("IDAT", dot) : Bytes.png("fdAT", Bytes.bigEndian(number + 1, 4) ++ dot)
        }
        return file(chunks)
    }
}
