import TestSupport

/// Icons with extreme values in their directory or headers.
enum IconShapes {
    private typealias Bytes = MediaBytes

    private static let rejected: Set<String> = ["media.corrupt", "media.unsupported", "media.too_many_pixels"]

    private static let pixels = Bytes.zeros(16 * 16 * 3) ++ Bytes.zeros(16 * 4)

    static let all: [HostileFile] = [
        HostileFile("entries.ico", rejected) { _ in
            [0, 0, 1, 0, 255, 255] ++ Bytes.repeated([16, 16, 0, 0, 1, 0, 24, 0, 1, 0, 0, 0, 22, 0, 0, 0], 65_535)
        },
        HostileFile("outside.ico", rejected) { _ in
            [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 24, 0] ++ [UInt8](repeating: 0xFF, count: 8) ++ Bytes.zeros(100)
        },
        HostileFile("huge.ico", rejected) { _ in
            let bitmap = IconFile.bitmap(width: 0x7FFF_FFFF, height: 1, pixels: pixels, mask: [])
            return IconFile.icon([(16, 16, bitmap)])
        },
        HostileFile("low.ico", rejected) { _ in
            let bitmap = IconFile.bitmap(
                width: 16, height: 16, pixels: pixels, mask: [], declaredHeight: -2_147_483_648)
            return IconFile.icon([(16, 16, bitmap)])
        },
        HostileFile("png.ico", rejected) { _ in
            let png =
                Bytes.pngSignature ++ Bytes.pngHeader(20_000, 20_000)
                ++ Bytes.png("IDAT", Bytes.zlibBomb(90_000_000)) ++ Bytes.png("IEND")
            return IconFile.icon([(0, 0, png)])
        },
    ]
}
