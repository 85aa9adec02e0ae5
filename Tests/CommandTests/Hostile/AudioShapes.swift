import Foundation
import TestSupport

/// Audio files with wrong tags, chunks and lengths.
enum AudioShapes {
    private typealias Bytes = MediaBytes

    private static func sample(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample(name))))
    }

    private static let readable: Set<String> = ["passed", "converted"]
    private static let readableOrCorrupt: Set<String> = ["passed", "converted", "shrunk", "media.corrupt"]

    private static let readableOrRejected = readableOrCorrupt.union(["media.unrecognized"])

    private static func sevenBits(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (21 - 7 * $0) & 0x7F) } }

    /// 417 bytes of silence.
    private static let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0xC0] ++ Bytes.zeros(413)
    private static let frames = Bytes.repeated(frame, 100)

    private static func tag(_ version: UInt8, flags: UInt8 = 0, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        Bytes.text("ID3") ++ [version, 0, flags] ++ sevenBits(size ?? content.count) ++ content
    }

    private static func tagFrame(_ name: String, flags: [UInt8] = [0, 0], _ content: [UInt8], size: Int? = nil)
        -> [UInt8]
    {
        Bytes.text(name) ++ sevenBits(size ?? content.count) ++ flags ++ content
    }

    static let mp3s: [HostileFile] = [
        HostileFile("tag-declared.mp3", HostileFile.corrupt) { _ in tag(4, Bytes.zeros(100), size: 0xFFF_FFFF) ++ frames
        },
        HostileFile("tag-footer.mp3", HostileFile.corrupt) { _ in tag(4, flags: 0x10, [], size: 0xFFF_FFFF) ++ frames },
        HostileFile("tag-frame.mp3", readableOrCorrupt) { _ in
            tag(4, tagFrame("TIT2", Bytes.zeros(20), size: 0xFFF_FFFF)) ++ frames
        },
        HostileFile("tag-compressed.mp3", readableOrCorrupt) { _ in
            let bomb = sevenBits(200_000_000) ++ Bytes.zlibBomb(200_000_000)
            return tag(4, Bytes.repeated(tagFrame("APIC", flags: [0, 0x09], bomb), 4)) ++ frames
        },
        HostileFile("tag-frames.mp3", readableOrCorrupt) { _ in
            tag(3, Bytes.repeated(Bytes.text("TXXX") ++ [0, 0, 0, 4, 0, 0, 0] ++ Bytes.text("a\0b"), 200_000)) ++ frames
        },
        HostileFile("tag-unsynchronized.mp3", readableOrCorrupt) { _ in
            tag(4, flags: 0x80, tagFrame("APIC", flags: [0, 3], Bytes.repeated([0xFF, 0], 500_000))) ++ frames
        },
        HostileFile("tag-extended.mp3", readableOrCorrupt) { _ in
            tag(4, flags: 0x40, [0x7F, 0x7F, 0x7F, 0x7F] ++ Bytes.zeros(60)) ++ frames
        },
        HostileFile("tags.mp3", readableOrRejected) { _ in Bytes.repeated(tag(4, []), 200_000) ++ frames },
        HostileFile("tag-ape.mp3", readableOrCorrupt) { _ in
            let ape =
                Bytes.text("APETAGEX") ++ Bytes.littleEndian(2_000, 4) ++ [
                    0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F,
                ]
            return frames ++ ape ++ [0, 0, 0, 0x80] ++ Bytes.zeros(8)
        },
        HostileFile("tag-ape-header.mp3", readableOrCorrupt) { _ in
            let ape = Bytes.text("APETAGEX") ++ Bytes.littleEndian(2_000, 4) ++ [0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0]
            return ape ++ [0, 0, 0, 0xA0] ++ Bytes.zeros(8) ++ frames
        },
        HostileFile("table.mp3", HostileFile.corrupt) { _ in
            let table =
                [0xFF, 0xFB, 0x90, 0xC0] ++ Bytes.zeros(17) ++ Bytes.text("Xing") ++ [
                    0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF,
                ]
            return table ++ Bytes.zeros(417 - table.count) ++ frames
        },
        HostileFile("lyrics.mp3", readableOrRejected) { _ in
            Bytes.repeated(frame ++ Bytes.text("LYRICSBEGIN"), 20_000)
        },
        HostileFile("free.mp3", readableOrRejected) { _ in
            Bytes.repeated([0xFF, 0xFB, 0x00, 0xC0] ++ Bytes.zeros(20), 50_000)
        },
        HostileFile("silence.mp3", ["passed", "shrunk"]) { _ in
            // An hour of nothing: frames of 72 bytes at 8 kbit/s.
            Bytes.repeated([0xFF, 0xE3, 0x18, 0xC0] ++ Bytes.zeros(68), 50_000)
        },
    ]

    private static func flac(samples: Int, blocks: [UInt8] = [], channels: Int = 1) -> [UInt8] {
        let information =
            [0x10, 0, 0x10, 0] ++ Bytes.zeros(6)
            ++ Bytes.bigEndian(44_100 << 44 | (channels - 1) << 41 | 15 << 36 | samples, 8) ++ Bytes.zeros(16)
        return Bytes.text("fLaC") ++ [blocks.isEmpty ? 0x80 : 0] ++ Bytes.bigEndian(34, 3) ++ information ++ blocks
    }

    static let others: [HostileFile] = [
        HostileFile("samples.flac", HostileFile.corrupt) { _ in flac(samples: 0xF_FFFF_FFFF) },
        HostileFile("cover.flac", HostileFile.corrupt) { _ in
            let cover =
                [0, 0, 0, 3, 0, 0, 0, 9] ++ Bytes.text("image/png") ++ Bytes.zeros(20) ++ [0xFF, 0xFF, 0xFF, 0xFF]
            return flac(samples: 44_100, blocks: [0x86] ++ Bytes.bigEndian(cover.count, 3) ++ cover)
        },
        HostileFile("comments.flac", HostileFile.corrupt) { _ in
            let comment = Bytes.zeros(4) ++ [0xFF, 0xFF, 0xFF, 0xFF] ++ Bytes.zeros(100)
            return flac(samples: 44_100, blocks: [0x84] ++ Bytes.bigEndian(comment.count, 3) ++ comment)
        },
        HostileFile("blocks.flac", HostileFile.corrupt) { _ in
            flac(samples: 44_100, blocks: Bytes.repeated([1, 0, 0, 0], 500_000))
        },
        HostileFile("samples.wav", HostileFile.corrupt) { _ in
            wave(Bytes.riff("data", Bytes.zeros(100), size: 0xFFFF_FFF0))
        },
        HostileFile("format.wav", HostileFile.corrupt) { _ in
            Bytes.riff(
                "RIFF",
                Bytes.text("WAVE") ++ Bytes.riff("fmt ", Bytes.zeros(16), size: 0x7FFF_FFFF)
                    ++ Bytes.riff("data", Bytes.zeros(100)))
        },
        HostileFile("rates.wav", HostileFile.rejected) { _ in
            wave(Bytes.riff("data", Bytes.zeros(10_000)), rate: 0xFFFF_FFFF, channels: 0xFFFF)
        },
        HostileFile("slow.wav", ["media.too_long", "media.corrupt", "media.unsupported"]) { _ in
            wave(Bytes.riff("data", Bytes.zeros(10_000_000)), rate: 1, channels: 1)
        },
        HostileFile("chunks.wav", ["passed", "converted", "media.corrupt"]) { _ in
            wave(Bytes.repeated(Bytes.riff("abcd", []), 500_000) ++ Bytes.riff("data", Bytes.zeros(44_100)))
        },
        HostileFile("large.wav", HostileFile.corrupt) { _ in
            let size = Bytes.riff(
                "ds64",
                [UInt8](repeating: 0xFF, count: 7) ++ [0x7F] ++ [UInt8](repeating: 0xFF, count: 7) ++ [0x7F]
                    ++ Bytes.zeros(12))
            let body =
                Bytes.text("WAVE") ++ size ++ format(rate: 44_100, channels: 1)
                ++ Bytes.riff("data", Bytes.zeros(100), size: 0xFFFF_FFFF)
            return Bytes.text("RF64") ++ [0xFF, 0xFF, 0xFF, 0xFF] ++ body
        },
        HostileFile("samples.aiff", HostileFile.corrupt) { _ in
            let common =
                Bytes.text("COMM") ++ Bytes.bigEndian(18, 4) ++ [
                    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x40, 0x0E, 0xAC, 0x44,
                ] ++ Bytes.zeros(6)
            let data = Bytes.text("SSND") ++ Bytes.bigEndian(0x7FFF_FFFF, 4) ++ Bytes.zeros(64)
            return Bytes.text("FORM") ++ Bytes.bigEndian(4 + common.count + data.count, 4) ++ Bytes.text("AIFF")
                ++ common ++ data
        },
        HostileFile("packets.caf", HostileFile.corrupt) { _ in
            let description =
                Bytes.text("desc") ++ Bytes.bigEndian(32, 8) ++ Bytes.zeros(8) ++ Bytes.text("alac") ++ Bytes.zeros(20)
            let table =
                Bytes.text("pakt") ++ [0x7F] ++ [UInt8](repeating: 0xFF, count: 7) ++ [UInt8](repeating: 0x7F, count: 8)
                ++ Bytes.zeros(16)
            return Bytes.text("caff") ++ [0, 1, 0, 0] ++ description ++ table
        },
        HostileFile("data.caf", HostileFile.corrupt) { _ in
            let description =
                Bytes.text("desc") ++ Bytes.bigEndian(32, 8) ++ [0x40, 0xE5, 0x88, 0x80] ++ Bytes.zeros(4)
                ++ Bytes.text("lpcm") ++ Bytes.zeros(4)
                ++ Bytes.bigEndian(2, 4) ++ Bytes.bigEndian(1, 4) ++ Bytes.bigEndian(1, 4) ++ Bytes.bigEndian(16, 4)
            return Bytes.text("caff") ++ [0, 1, 0, 0] ++ description ++ Bytes.text("data") ++ [0x80] ++ Bytes.zeros(7)
                ++ Bytes.zeros(100)
        },
    ]

    private static func format(rate: Int, channels: Int) -> [UInt8] {
        Bytes.riff(
            "fmt ",
            [1, 0] ++ Bytes.littleEndian(channels, 2) ++ Bytes.littleEndian(rate, 4) ++ Bytes.littleEndian(rate, 4) ++ [
                1, 0, 8, 0,
            ])
    }

    private static func wave(_ chunks: [UInt8], rate: Int = 44_100, channels: Int = 1) -> [UInt8] {
        Bytes.riff("RIFF", Bytes.text("WAVE") ++ format(rate: rate, channels: channels) ++ chunks)
    }
}
