import Foundation
import TestSupport

/// Matroska, AVI, FLV, transport streams, ASF and Ogg with extreme values.
enum StreamShapes {
    private typealias Bytes = MediaBytes

    private static func sample(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample(name))))
    }

    private static let rejected: Set<String> = ["media.corrupt", "media.unsupported", "media.unrecognized"]
    private static let head = Bytes.ebml(0x1A45_DFA3, Bytes.ebml(0x4282, Bytes.text("matroska")))

    private static func segment(_ content: [UInt8]) -> [UInt8] { head ++ Bytes.ebml(0x1853_8067, content) }

    /// An MP3 track; `encoding` is the content encoding of its frames.
    private static func track(encoding: [UInt8] = [], private codecPrivate: [UInt8] = []) -> [UInt8] {
        let audio = Bytes.ebml(0xE1, Bytes.ebml(0xB5, [0x47, 0x2C, 0x44, 0]) ++ Bytes.ebml(0x9F, [1]))
        let entry =
            Bytes.ebml(0xD7, [1]) ++ Bytes.ebml(0x73C5, [1]) ++ Bytes.ebml(0x83, [2])
            ++ Bytes.ebml(0x86, Bytes.text("A_MPEG/L3")) ++ audio ++ encoding
            ++ (codecPrivate.isEmpty ? [] : Bytes.ebml(0x63A2, codecPrivate))
        return Bytes.ebml(0x1654_AE6B, Bytes.ebml(0xAE, entry))
    }

    /// A content encoding with zlib compression.
    private static let packed = Bytes.ebml(
        0x6D80,
        Bytes.ebml(
            0x6240, Bytes.ebml(0x5031, [0]) ++ Bytes.ebml(0x5033, [0]) ++ Bytes.ebml(0x5034, Bytes.ebml(0x4254, [0]))))

    private static func cluster(_ blocks: [UInt8], time: [UInt8] = [0]) -> [UInt8] {
        Bytes.ebml(0x1F43_B675, Bytes.ebml(0xE7, time) ++ blocks)
    }

    private static func block(_ data: [UInt8], flags: UInt8 = 0x80) -> [UInt8] {
        Bytes.ebml(0xA3, [0x81, 0, 0, flags] ++ data)
    }

    static let matroskas: [HostileFile] = [
        HostileFile("deep.mkv", rejected) { _ in
            // Tags may be nested.
            let levels = 10_000
            let nested = (0..<levels).flatMap { [0x67, 0xC8, 0x08] ++ Bytes.bigEndian((levels - $0) * 7, 4) }
            return segment(Bytes.ebml(0x1254_C367, Bytes.ebml(0x7373, nested)))
        },
        HostileFile("unknown.mkv", rejected) { _ in
            head
                ++ Bytes.repeated(
                    Bytes.ebml(0x1853_8067, [], size: nil) ++ Bytes.ebml(0x1F43_B675, [], size: nil), 100_000)
        },
        HostileFile("size.mkv", rejected) { _ in
            head ++ Bytes.ebml(0x1853_8067, Bytes.zeros(64), size: 0xFF_FFFF_FFFF_FFFE)
        },
        HostileFile("seek-loop.mkv", rejected) { _ in
            let seek = Bytes.ebml(0x4DBB, Bytes.ebml(0x53AB, [0x11, 0x4D, 0x9B, 0x74]) ++ Bytes.ebml(0x53AC, [0]))
            return segment(Bytes.ebml(0x114D_9B74, Bytes.repeated(seek, 10_000)) ++ track())
        },
        HostileFile("packed.mkv", rejected) { _ in
            segment(track(encoding: packed) ++ cluster(Bytes.repeated(block(Bytes.zlibBomb(90_000_000)), 3)))
        },
        HostileFile("packed-private.mkv", rejected) { _ in
            segment(track(encoding: packed, private: Bytes.zlibBomb(300_000_000)) ++ cluster(block(Bytes.zeros(100))))
        },
        HostileFile("lacing.mkv", rejected) { _ in
            segment(track() ++ cluster(Bytes.repeated(block([255] ++ Bytes.zeros(300), flags: 0x84), 20_000)))
        },
        HostileFile("lacing-sizes.mkv", rejected) { _ in
            segment(
                track()
                    ++ cluster(
                        block([255] ++ [UInt8](repeating: 255, count: 4_000), flags: 0x82)
                            ++ block([255, 1, 255, 255], flags: 0x86)))
        },
        HostileFile("times.mkv", ["media.corrupt", "media.too_long", "converted"]) { _ in
            let frame = [0xFF, 0xFB, 0x90, 0xC0] ++ Bytes.zeros(413)
            let far = [0x7F] ++ [UInt8](repeating: 0xFF, count: 7)
            return segment(
                track() ++ cluster(block(frame)) ++ cluster(block(frame), time: far)
                    ++ cluster(block(frame), time: [0x80] ++ Bytes.zeros(7)))
        },
        HostileFile("tracks.mkv", rejected) { _ in segment(Bytes.repeated(track(), 20_000)) },
        HostileFile("attachment.mkv", rejected) { _ in
            let font =
                Bytes.ebml(0x466E, Bytes.text("../../etc/passwd"))
                ++ Bytes.ebml(0x4660, Bytes.text("application/x-truetype-font"))
                ++ Bytes.ebml(0x465C, Bytes.zeros(20_000_000)) ++ Bytes.ebml(0x46AE, [1])
            return segment(Bytes.ebml(0x1941_A469, Bytes.repeated(Bytes.ebml(0x61A7, font), 2)) ++ track())
        },
        HostileFile("cues.mkv", rejected) { _ in
            let cue = Bytes.ebml(
                0xBB, Bytes.ebml(0xB3, [0]) ++ Bytes.ebml(0xB7, Bytes.ebml(0xF7, [1]) ++ Bytes.ebml(0xF1, [0])))
            return segment(track() ++ Bytes.ebml(0x1C53_BB6B, Bytes.repeated(cue, 200_000)))
        },
    ]

    /// Packets of a transport stream, each with another stream ID.
    private static func packets(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for number in 0..<count {
            let head: [UInt8] = [0x47, 0x40 | UInt8(number >> 8 & 0x1F), UInt8(number & 255), 0x10, 0, 0, 0xB0, 0x0D]
            bytes += head
            bytes += [UInt8](repeating: 0xFF, count: 180)
        }
        return bytes
    }

    private static func avi(_ lists: [UInt8]) -> [UInt8] { Bytes.riff("RIFF", Bytes.text("AVI ") ++ lists) }

    private static func header(streams: Int) -> [UInt8] {
        let main = Bytes.riff(
            "avih",
            Bytes.littleEndian(40_000, 4) ++ Bytes.zeros(20) ++ Bytes.littleEndian(streams, 4) ++ Bytes.zeros(28))
        let stream = Bytes.riff(
            "strh",
            Bytes.text("vidsMJPG") ++ Bytes.zeros(12) ++ [1, 0, 0, 0, 25, 0, 0, 0] ++ Bytes.zeros(4) ++ [1, 0, 0, 0]
                ++ Bytes.zeros(20))
        let format = Bytes.riff(
            "strf",
            Bytes.littleEndian(40, 4) ++ Bytes.littleEndian(64, 4) ++ Bytes.littleEndian(64, 4) ++ [1, 0, 24, 0]
                ++ Bytes.text("MJPG") ++ Bytes.zeros(20))
        let list = Bytes.riff("LIST", Bytes.text("strl") ++ stream ++ format)
        return Bytes.riff("LIST", Bytes.text("hdrl") ++ main ++ Bytes.repeated(list, streams))
    }

    static let others: [HostileFile] = [
        HostileFile("streams.avi", rejected) { _ in
            avi(header(streams: 5_000) ++ Bytes.riff("LIST", Bytes.text("movi")))
        },
        HostileFile("index.avi", rejected) { _ in
            let entry = Bytes.text("00dc") ++ [16, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]
            return avi(
                header(streams: 1) ++ Bytes.riff("LIST", Bytes.text("movi") ++ Bytes.riff("00dc", []))
                    ++ Bytes.riff("idx1", Bytes.repeated(entry, 1_000_000)))
        },
        HostileFile("index-loop.avi", rejected) { _ in
            // An index of indexes that refers to itself.
            let entry = Bytes.littleEndian(12, 8) ++ Bytes.littleEndian(64, 4) ++ Bytes.littleEndian(1, 4)
            let index = Bytes.riff(
                "indx",
                [4, 0, 0, 0] ++ Bytes.littleEndian(10_000, 4) ++ Bytes.text("00dc") ++ Bytes.zeros(12)
                    ++ Bytes.repeated(entry, 10_000))
            return avi(
                header(streams: 1) ++ index
                    ++ Bytes.riff("LIST", Bytes.text("movi") ++ Bytes.riff("00dc", Bytes.zeros(8))))
        },
        HostileFile("nested.avi", rejected) { _ in
            avi(
                header(streams: 1)
                    ++ Bytes.repeated(Bytes.text("LIST") ++ [0xFF, 0xFF, 0xFF, 0x7F] ++ Bytes.text("rec "), 100_000))
        },
        HostileFile("empty-chunks.avi", rejected) { _ in
            avi(
                header(streams: 1)
                    ++ Bytes.riff("LIST", Bytes.text("movi") ++ Bytes.repeated(Bytes.riff("00dc", []), 1_000_000)))
        },
        HostileFile("script.flv", rejected) { _ in
            // A script with nested arrays.
            let arrays = Bytes.repeated([10, 0, 0, 0, 1], 100_000)
            let script = [2, 0, 10] ++ Bytes.text("onMetaData") ++ arrays
            return Bytes.text("FLV") ++ [1, 5, 0, 0, 0, 9, 0, 0, 0, 0, 18] ++ Bytes.bigEndian(script.count, 3)
                ++ Bytes.zeros(7) ++ script ++ Bytes.bigEndian(script.count + 11, 4)
        },
        HostileFile("times.flv", ["media.corrupt", "media.too_long", "media.unsupported"]) { _ in
            let tag: @Sendable ([UInt8]) -> [UInt8] = { time in
                let frame: [UInt8] = [0x2E, 0xFF, 0xFB, 0x90, 0xC0] ++ Bytes.zeros(413)
                return [8] ++ Bytes.bigEndian(frame.count, 3) ++ time ++ [0, 0, 0] ++ frame
                    ++ Bytes.bigEndian(frame.count + 11, 4)
            }
            return Bytes.text("FLV") ++ [1, 4, 0, 0, 0, 9, 0, 0, 0, 0] ++ tag([0, 0, 0, 0])
                ++ tag([0xFF, 0xFF, 0xFF, 0x7F]) ++ tag([0, 0, 0, 0x80])
        },
        HostileFile("programs.ts", rejected) { _ in
            packets(20_000)
        },
        HostileFile("objects.wmv", rejected) { _ in
            let head: [UInt8] = [
                0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0, 0xAA, 0, 0x62, 0xCE, 0x6C,
            ]
            let object = Bytes.zeros(16) ++ Bytes.littleEndian(24, 8)
            return head ++ Bytes.littleEndian(30 + 24 * 200_000, 8) ++ [0xFF, 0xFF, 0xFF, 0xFF, 1, 2]
                ++ Bytes.repeated(object, 200_000)
        },
        HostileFile("object-size.wmv", rejected) { _ in
            let head: [UInt8] = [
                0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0, 0xAA, 0, 0x62, 0xCE, 0x6C,
            ]
            return head ++ [UInt8](repeating: 0xFF, count: 7) ++ [0x7F, 1, 0, 0, 0, 1, 2] ++ Bytes.zeros(200)
        },
        HostileFile("headers.ogg", rejected) { _ in
            let first = Bytes.ogg(
                [1] ++ Bytes.text("vorbis") ++ [0, 0, 0, 0, 1] ++ Bytes.littleEndian(44_100, 4) ++ Bytes.zeros(12) ++ [
                    0xB8, 1,
                ], page: 0, flags: 2)
            return first
                ++ (1...400).flatMap {
                    Bytes.ogg([3] ++ Bytes.text("vorbis") ++ [UInt8](repeating: 0xFF, count: 60_000), page: $0)
                }
        },
        HostileFile("comments.opus", rejected) { _ in
            let first = Bytes.ogg(
                Bytes.text("OpusHead") ++ [1, 1, 0, 0] ++ Bytes.littleEndian(48_000, 4) ++ [0, 0, 0], page: 0, flags: 2)
            let tags = Bytes.text("OpusTags") ++ Bytes.littleEndian(0x7FFF_FFFF, 4) ++ Bytes.zeros(40_000)
            return first ++ Bytes.ogg(tags, page: 1) ++ Bytes.ogg(Bytes.zeros(100), page: 2, flags: 4, granule: Int.max)
        },
        HostileFile("streams.ogg", rejected) { _ in
            (0..<5_000).flatMap { index -> [UInt8] in
                var page = Bytes.ogg(
                    Bytes.text("OpusHead") ++ [1, 1, 0, 0] ++ Bytes.littleEndian(48_000, 4) ++ [0, 0, 0], page: 0,
                    flags: 2)
                page.replaceSubrange(14..<18, with: Bytes.littleEndian(index, 4))
                MediaChecksums.repair(&page)
                return page
            }
        },
    ]
}
