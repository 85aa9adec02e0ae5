import TestSupport

/// MP4 and QuickTime: boxes with wrong sizes, deep nesting, repetitions and references to other files.
enum BoxShapes {
    private typealias Bytes = MediaBytes

    private static let type = Bytes.box("ftyp", Bytes.text("isom") ++ Bytes.zeros(4) ++ Bytes.text("isommp42"))

    private static let samples = Bytes.box("mdat", Bytes.zeros(13_000))

    private static let rejected: Set<String> = ["media.corrupt", "media.unsupported"]
    /// Rejected, or converted with the file's own samples.
    private static let rejectedOrOwn = rejected.union(["converted"])

    /// A valid movie, which the other files modify.
    static let valid = HostileFile("valid.mp4", ["converted"]) { _ in movie(track()) ++ samples }

    /// A file type box and a movie box with these tracks.
    private static func movie(_ tracks: [UInt8], behind: [UInt8] = []) -> [UInt8] {
        let header = Bytes.fullBox(
            "mvhd", Bytes.zeros(8) ++ Bytes.bigEndian(1_000, 4) ++ Bytes.bigEndian(1_000, 4) ++ Bytes.zeros(80))
        return type ++ Bytes.box("moov", header ++ tracks ++ behind)
    }

    /// The parts of a track's sample table; the defaults are valid.
    private struct Table {
        var sizes = Bytes.fullBox("stsz", Bytes.bigEndian(12_288, 4) ++ Bytes.bigEndian(1, 4))
        var times = Bytes.fullBox("stts", Bytes.bigEndian(1, 4) ++ Bytes.bigEndian(1, 4) ++ Bytes.bigEndian(1_000, 4))
        var chunks = Bytes.fullBox("stsc", Bytes.bigEndian(1, 4) ++ [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1])
        var offsets = Bytes.fullBox("stco", Bytes.bigEndian(1, 4) ++ Bytes.bigEndian(40, 4))
        var more: [UInt8] = []
        var references = Bytes.fullBox("dref", Bytes.bigEndian(1, 4) ++ Bytes.fullBox("url ", flags: 1))
        var edits: [UInt8] = []
        var width = 64
        var height = 64
        var entries = 1
    }

    /// A track of uncompressed frames, three bytes per pixel.
    private static func track(_ table: Table = Table()) -> [UInt8] {
        let entry = Bytes.box(
            "raw ",
            Bytes.zeros(6) ++ [0, 1] ++ Bytes.zeros(16) ++ Bytes.bigEndian(table.width, 2)
                ++ Bytes.bigEndian(table.height, 2) ++ [0, 0x48, 0, 0, 0, 0x48, 0, 0] ++ Bytes.zeros(4) ++ [0, 1]
                ++ Bytes.zeros(32) ++ [0, 24, 0xFF, 0xFF])
        let description = Bytes.fullBox("stsd", Bytes.bigEndian(table.entries, 4) ++ entry)
        let tables = Bytes.box(
            "stbl", description ++ table.times ++ table.chunks ++ table.sizes ++ table.offsets ++ table.more)
        let information = Bytes.box(
            "minf", Bytes.fullBox("vmhd", Bytes.zeros(8), flags: 1) ++ Bytes.box("dinf", table.references) ++ tables)
        let header = Bytes.fullBox(
            "mdhd", Bytes.zeros(8) ++ Bytes.bigEndian(1_000, 4) ++ Bytes.bigEndian(1_000, 4) ++ Bytes.zeros(4))
        let handler = Bytes.fullBox("hdlr", Bytes.zeros(4) ++ Bytes.text("vide") ++ Bytes.zeros(13))
        let shown = Bytes.fullBox(
            "tkhd", Bytes.zeros(8) ++ Bytes.bigEndian(1, 4) ++ Bytes.zeros(68), flags: 3)
        return Bytes.box("trak", shown ++ table.edits ++ Bytes.box("mdia", header ++ handler ++ information))
    }

    private static func file(
        _ name: String, _ outcomes: Set<String> = rejected, _ change: @escaping @Sendable (inout Table) -> Void
    ) -> HostileFile {
        HostileFile(name, outcomes) { _ in
            var table = Table()
            change(&table)
            return movie(track(table)) ++ samples
        }
    }

    private static func counts(_ type: String, lead: [UInt8] = [], _ count: Int) -> [UInt8] {
        Bytes.fullBox(type, lead ++ Bytes.bigEndian(count, 4) ++ Bytes.zeros(64))
    }

    /// Data references to other files, by URL and by alias.
    static let references: [HostileFile] =
        ["url ", "alis", "urn ", "cios"].map { kind in
            HostileFile("reference-\(kind.filter { $0 != " " }).mp4", kind == "alis" ? rejected : rejectedOrOwn) {
                traps in
                var table = Table()
                let target = kind == "alis" ? alias(traps.file) : Bytes.text("file://\(traps.file)\0")
                let own = Bytes.fullBox(kind, target)
                let other = Bytes.fullBox("url ", Bytes.text("\(traps.address)\0"))
                table.references = Bytes.fullBox("dref", Bytes.bigEndian(2, 4) ++ own ++ other)
                return movie(track(table)) ++ samples
            }
        } + [
            // A QuickTime reference movie.
            HostileFile("reference.mov", rejected) { traps in
                let data = Bytes.fullBox(
                    "rdrf",
                    Bytes.text("url ") ++ Bytes.bigEndian(traps.address.utf8.count + 1, 4)
                        ++ Bytes.text(traps.address + "\0"))
                return type ++ Bytes.box("moov", Bytes.box("rmra", Bytes.box("rmda", data)))
            }
        ]

    /// A Mac OS alias record with an absolute path, separated by colons.
    private static func alias(_ path: String) -> [UInt8] {
        let path = Bytes.text("disk" + path.map { $0 == "/" ? ":" : String($0) }.joined())
        let head = Bytes.zeros(10) ++ [4] ++ Bytes.text("disk") ++ Bytes.zeros(23) ++ Bytes.zeros(12)
        let name = [6] ++ Bytes.text("secret") ++ Bytes.zeros(57) ++ Bytes.zeros(36)
        let padding: [UInt8] = path.count % 2 == 1 ? [0] : []
        return head ++ name ++ [0, 2] ++ Bytes.bigEndian(path.count, 2) ++ path ++ padding ++ [0xFF, 0xFF, 0, 0]
    }

    /// Invalid sizes, and structures with cycles or deep nesting.
    static let boxes: [HostileFile] = [
        HostileFile("zero.mp4", rejected) { _ in type ++ Bytes.zeros(64) },
        HostileFile("seven.mp4", rejected) { _ in type ++ Bytes.box("moov", Bytes.zeros(64), size: 7) },
        HostileFile("huge.mp4", rejected) { _ in type ++ Bytes.box("moov", Bytes.zeros(64), size: 0xFFFF_FFFF) },
        HostileFile("endless.mp4", rejected) { _ in type ++ Bytes.box("moov", Bytes.zeros(64), size: 0) },
        HostileFile(
            "long.mp4", rejected
        ) { _ in type ++ Bytes.box("moov", [0x7F] ++ [UInt8](repeating: 0xFF, count: 7), size: 1) },
        HostileFile(
            "negative.mp4", rejected
        ) { _ in type ++ Bytes.box("moov", [UInt8](repeating: 0xFF, count: 8), size: 1) },
        HostileFile("short-long.mp4", rejected) { _ in type ++ Bytes.box("moov", Bytes.bigEndian(3, 8), size: 1) },
        HostileFile("deep.mp4", rejected) { _ in type ++ nested(["moov"], 10_000) },
        HostileFile("deep-mixed.mp4", rejected) { _ in
            type ++ nested(["moov", "trak", "mdia", "minf", "dinf", "stbl", "udta", "meta", "moof", "traf"], 100_000)
        },
        HostileFile("many.mp4", rejected) { _ in movie(Bytes.repeated(Bytes.box("free"), 200_000)) },
        HostileFile("tracks.mp4", rejected) { _ in
            movie(Bytes.repeated(track(), 5_000)) ++ samples
        },
        HostileFile("fragments.mp4", rejectedOrOwn) { _ in
            let run = Bytes.fullBox("trun", Bytes.bigEndian(0x7FFF_FFFF, 4) ++ Bytes.zeros(8), flags: 1)
            let part = Bytes.box("traf", Bytes.fullBox("tfhd", Bytes.bigEndian(1, 4)) ++ run)
            let extends = Bytes.box("mvex", Bytes.fullBox("trex", Bytes.bigEndian(1, 4) ++ Bytes.zeros(16)))
            return movie(track(), behind: extends)
                ++ Bytes.repeated(Bytes.box("moof", Bytes.fullBox("mfhd", Bytes.zeros(4)) ++ part), 40_000)
        },
        HostileFile("fragment-samples.mp4", rejected) { _ in
            // Without fields per sample, the count alone declares millions of empty samples.
            let run = Bytes.fullBox("trun", Bytes.bigEndian(50_000_000, 4))
            let part = Bytes.box("traf", Bytes.fullBox("tfhd", Bytes.bigEndian(1, 4), flags: 0x20000) ++ run)
            let extends = Bytes.box("mvex", Bytes.fullBox("trex", Bytes.bigEndian(1, 4) ++ Bytes.zeros(16)))
            return movie(track(), behind: extends)
                ++ Bytes.repeated(Bytes.box("moof", Bytes.fullBox("mfhd", Bytes.zeros(4)) ++ part), 20)
        },
        HostileFile("index-loop.mp4", rejectedOrOwn) { _ in
            let entry = Bytes.bigEndian(1 << 31, 4) ++ Bytes.bigEndian(1_000, 4) ++ Bytes.zeros(4)
            return type
                ++ Bytes.repeated(
                    Bytes.fullBox(
                        "sidx",
                        Bytes.bigEndian(1, 4) ++ Bytes.bigEndian(1_000, 4) ++ Bytes.zeros(8) ++ [0, 0, 0xFF, 0xFF]
                            ++ entry), 20_000)
                ++ movie(track())
        },
        HostileFile("tags.mp4", rejectedOrOwn) { _ in
            movie(
                track(),
                behind: Bytes.box(
                    "udta",
                    Bytes.box("\u{FF}nam", Bytes.repeated(Bytes.text("<b>\u{1B}[2J"), 1_000_000), size: 9_000_008)))
        },
        HostileFile("compressed.mov", rejected) { _ in
            let stream = Bytes.bigEndian(400_000_000, 4) ++ Bytes.zlibBomb(200_000_000)
            return type
                ++ Bytes.box(
                    "moov", Bytes.box("cmov", Bytes.box("dcom", Bytes.text("zlib")) ++ Bytes.box("cmvd", stream)))
        },
    ]

    private static func nested(_ types: [String], _ levels: Int) -> [UInt8] {
        let size = levels * 8
        return (0..<levels).flatMap { Bytes.bigEndian(size - $0 * 8, 4) ++ Bytes.text(types[$0 % types.count]) }
    }

    /// Sample tables with huge counts, with and without the entries.
    static let tables: [HostileFile] = [0x7FFF_FFFF, 0xFFFF_FFFF, 0x1000_0000].flatMap(countless) + edited

    private static func countless(_ count: Int) -> [HostileFile] {
        [
            file("sizes-\(count).mp4") { $0.sizes = counts("stsz", lead: Bytes.zeros(4), count) },
            // A common size needs no table.
            file("equal-sizes-\(count).mp4") { $0.sizes = counts("stsz", lead: Bytes.bigEndian(1, 4), count) },
            file("times-\(count).mp4") { $0.times = counts("stts", count) },
            file("run-\(count).mp4") {
                $0.times = Bytes.fullBox(
                    "stts", Bytes.bigEndian(1, 4) ++ Bytes.bigEndian(count, 4) ++ Bytes.bigEndian(1, 4))
                $0.sizes = counts("stsz", lead: Bytes.bigEndian(1, 4), count)
                $0.chunks = Bytes.fullBox(
                    "stsc", Bytes.bigEndian(1, 4) ++ [0, 0, 0, 1] ++ Bytes.bigEndian(count, 4) ++ [0, 0, 0, 1])
            },
            file("offsets-\(count).mp4") { $0.offsets = counts("stco", count) },
            file("chunks-\(count).mp4") { $0.chunks = counts("stsc", count) },
            file("shifts-\(count).mp4") { $0.more = counts("ctts", count) },
            file("keys-\(count).mp4") { $0.more = counts("stss", count) },
            file("entries-\(count).mp4") { $0.entries = count },
        ]
    }

    private static let edited: [HostileFile] = [
        file("far.mp4") {
            $0.offsets = Bytes.fullBox(
                "co64", Bytes.bigEndian(1, 4) ++ [0x7F] ++ [UInt8](repeating: 0xFF, count: 7))
        },
        file("edits.mp4", rejectedOrOwn) { table in
            let edit = Bytes.bigEndian(1, 4) ++ Bytes.zeros(4) ++ [0, 1, 0, 0]
            table.edits = Bytes.box(
                "edts", Bytes.fullBox("elst", Bytes.bigEndian(20_000, 4) ++ Bytes.repeated(edit, 20_000)))
        },
        file("edits-declared.mp4", rejectedOrOwn) { table in
            table.edits = Bytes.box(
                "edts", Bytes.fullBox("elst", Bytes.bigEndian(0xFFFF_FFFF, 4) ++ Bytes.zeros(24)))
        },
        file("edit-times.mp4") { table in
            let edit = [0x7F] ++ [UInt8](repeating: 0xFF, count: 7) ++ [0x80] ++ Bytes.zeros(7) ++ [0, 1, 0, 0]
            table.edits = Bytes.box(
                "edts", Bytes.fullBox("elst", Bytes.bigEndian(2, 4) ++ edit ++ edit, version: 1))
        },
        HostileFile("pixels.mp4", ["media.corrupt", "media.too_many_pixels"]) { _ in
            var table = Table()
            (table.width, table.height) = (65_535, 65_535)
            return movie(track(table)) ++ samples
        },
    ]
}
