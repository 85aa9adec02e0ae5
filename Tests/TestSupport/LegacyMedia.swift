import Foundation

/// Audio and movie files in old formats that FFmpeg reads and cannot write, built byte by byte.
public enum LegacyMedia {
    private typealias Bytes = MediaBytes

    /// All of them, by file name.
    public static let all: [(name: String, bytes: [UInt8])] = [
        ("tone.dsf", dsf()), ("wide.dsf", dsf(bitsPerSample: 8)), ("tone.dff", dff()), ("silence.ape", monkeysAudio()),
        ("silence-7.mpc", musepack7()), ("silence-8.mpc", musepack8()), ("noise-144.ra", realAudio144),
        ("noise-288.ra", realAudio288), ("noise-sipr.ra", realAudioSipr), ("noise-cook.rm", realAudioCook()),
        ("noise-truespeech.wav", truespeech), ("red.psd", photoshop()), ("runs.avi", runLengthMovie()),
    ]

    /// The file of that name.
    public static func bytes(_ name: String) -> [UInt8] { all.first { $0.name == name }?.bytes ?? [] }

    /// The same noise in every run.
    public static func noise(_ count: Int) -> [UInt8] {
        var state: UInt32 = 1
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
    }

    // MARK: DSD

    /// A tone of 440 Hz as the 1-bit samples of a delta-sigma modulator of second order.
    private static func bitstream(bytes: Int, rate: Double, isLowestFirst: Bool) -> [UInt8] {
        var (first, second) = (0.0, 0.0)
        return (0..<bytes).map { index in
            (0..<8).reduce(into: UInt8(0)) { byte, bit in
                let output = second >= 0 ? 1.0 : -1.0
                first += 0.4 * sin(2 * .pi * 440 * Double(index * 8 + bit) / rate) - output
                second += first - output
                if output > 0 { byte |= 1 << (isLowestFirst ? bit : 7 - bit) }
            }
        }
    }

    /// Samples a second of a Super Audio CD.
    public static let dsdRate = 2_822_400
    private static let dsdBlockBytes = 4_096

    /// A mono DSF of 0.1 s for every nine blocks.
    public static func dsf(
        blocks: Int = 9, bitsPerSample: Int = 1, channels: Int = 1, rate: Int = dsdRate, samples: Int? = nil
    ) -> [UInt8] {
        let data = bitstream(
            bytes: blocks * dsdBlockBytes, rate: Double(dsdRate), isLowestFirst: bitsPerSample == 1)
        let format =
            Bytes.text("fmt ") ++ Bytes.littleEndian(52, 8) ++ Bytes.littleEndian(1, 4) ++ Bytes.zeros(4)
            ++ Bytes.littleEndian(channels < 3 ? channels : 7, 4) ++ Bytes.littleEndian(channels, 4)
            ++ Bytes.littleEndian(rate, 4) ++ Bytes.littleEndian(bitsPerSample, 4)
            ++ Bytes.littleEndian(samples ?? data.count * 8, 8) ++ Bytes.littleEndian(dsdBlockBytes, 4)
            ++ Bytes.zeros(4)
        let chunk = Bytes.text("data") ++ Bytes.littleEndian(data.count + 12, 8) ++ data
        return Bytes.text("DSD ") ++ Bytes.littleEndian(28, 8)
            ++ Bytes.littleEndian(28 + format.count + chunk.count, 8) ++ Bytes.zeros(8) ++ format ++ chunk
    }

    /// A mono DFF of 0.1 s.
    public static func dff(rate: Int = dsdRate, channels: Int = 1) -> [UInt8] {
        let data = bitstream(bytes: 9 * dsdBlockBytes, rate: Double(dsdRate), isLowestFirst: false)
        let properties =
            Bytes.text("SND ") ++ chunk("FS  ", Bytes.bigEndian(rate, 4))
            ++ chunk("CHNL", Bytes.bigEndian(channels, 2) ++ Bytes.repeated(Bytes.text("SLFT"), min(channels, 100)))
            ++ chunk("CMPR", Bytes.text("DSD \u{E}not compressed"))
        let content =
            Bytes.text("DSD ") ++ chunk("FVER", Bytes.bigEndian(0x0105_0000, 4)) ++ chunk("PROP", properties)
            ++ chunk("DSD ", data)
        return Bytes.text("FRM8") ++ Bytes.bigEndian(content.count, 8) ++ content
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Bytes.text(name) ++ Bytes.bigEndian(content.count, 8) ++ content ++ (content.count % 2 == 1 ? [0] : [])
    }

    // MARK: Monkey's Audio

    /// Frames of 6.7 s of silence in version 3.99: a checksum with its highest bit, and flags for both channels.
    public static func monkeysAudio(
        frames: Int = 1, declaredFrames: Int? = nil, blocksPerFrame: Int = 294_912, lastBlocks: Int = 44_100,
        level: Int = 2_000
    ) -> [UInt8] {
        let frame = Bytes.littleEndian(0x8000_0000, 4) ++ Bytes.littleEndian(3, 4) ++ Bytes.zeros(16)
        let header =
            Bytes.littleEndian(level, 2) ++ Bytes.zeros(2) ++ Bytes.littleEndian(blocksPerFrame, 4)
            ++ Bytes.littleEndian(lastBlocks, 4) ++ Bytes.littleEndian(declaredFrames ?? frames, 4)
            ++ Bytes.littleEndian(16, 2) ++ Bytes.littleEndian(2, 2) ++ Bytes.littleEndian(44_100, 4)
        let start = 52 + header.count + 4 * frames
        let table = (0..<frames).flatMap { Bytes.littleEndian(start + $0 * frame.count, 4) }
        return Bytes.text("MAC ") ++ Bytes.littleEndian(3_990, 2) ++ Bytes.zeros(2) ++ Bytes.littleEndian(52, 4)
            ++ Bytes.littleEndian(header.count, 4) ++ Bytes.littleEndian(table.count, 4) ++ Bytes.zeros(4)
            ++ Bytes.littleEndian(frame.count * frames, 4) ++ Bytes.zeros(24) ++ header ++ table
            ++ Bytes.repeated(frame, frames)
    }

    // MARK: Musepack

    /// A second of silence in stream version 7: frames of a length in 20 bits and eight zeros, in words of 32 bits.
    public static func musepack7(declaredFrames: Int = 38) -> [UInt8] {
        let bits = Bytes.zeros(8) + (0..<38).flatMap { _ in Bytes.zeros(16) + [1, 0, 0, 0] + Bytes.zeros(8) }
        let words = stride(from: 0, to: bits.count, by: 32).map { start -> Int in
            let part = bits[start..<min(start + 32, bits.count)]
            return part.reduce(0) { $0 << 1 | Int($1) } << (32 - part.count)
        }
        return Bytes.text("MP+\u{7}") ++ Bytes.littleEndian(declaredFrames, 4) ++ Bytes.zeros(16)
            ++ words.flatMap { Bytes.littleEndian($0, 4) } ++ Bytes.zeros(4)
    }

    /// A second of silence in stream version 8.
    public static func musepack8(samples: [UInt8] = [0x82, 0xD8, 0x44]) -> [UInt8] {
        let header: [UInt8] = [0, 0, 0, 1, 8] ++ samples ++ [0, 0x00, 0x10]
        return Bytes.text("MPCK") ++ packet("SH", header) ++ packet("RG", [1] ++ Bytes.zeros(8))
            ++ packet("EI", Bytes.zeros(4)) ++ Bytes.repeated(packet("AP", Bytes.zeros(4)), 38) ++ packet("SE", [])
    }

    private static func packet(_ key: String, _ content: [UInt8]) -> [UInt8] {
        Bytes.text(key) ++ [UInt8(content.count + 3)] ++ content
    }

    // MARK: RealAudio

    /// RealAudio 1.0: a header of version 3, and frames of 20 bytes.
    private static let realAudio144: [UInt8] = {
        let header = Bytes.zeros(18) ++ [0, 4] ++ Bytes.text("lpcJ")
        return Bytes.text(".ra") ++ [0xFD, 0, 3] ++ Bytes.bigEndian(header.count, 2) ++ header ++ noise(2_000)
    }()

    private static let realAudio288 =
        realHeader(4, "28_8", "Int4", flavor: 0, coded: 38, rows: 12, frame: 228, part: 38)
        ++ noise(228 * 12 * 5)
    private static let realAudioSipr =
        realHeader(4, "sipr", "sipr", flavor: 3, coded: 160, rows: 6, frame: 160, part: 20)
        ++ noise(160 * 6 * 8)

    /// A header of version 4 or 5.
    private static func realHeader(
        _ version: Int, _ codec: String, _ order: String, flavor: Int, coded: Int, rows: Int, frame: Int, part: Int,
        rate: Int = 8_000, extra: [UInt8] = []
    ) -> [UInt8] {
        let isLate = version == 5
        let sizes =
            Bytes.bigEndian(flavor, 2) ++ Bytes.bigEndian(coded, 4) ++ Bytes.zeros(12) ++ Bytes.bigEndian(rows, 2)
            ++ Bytes.bigEndian(frame, 2) ++ Bytes.bigEndian(part, 2) ++ Bytes.zeros(isLate ? 8 : 2)
            ++ Bytes.bigEndian(rate, 2) ++ [0, 0, 0, 16, 0, 1]
        let names =
            isLate
            ? Bytes.text(order) ++ Bytes.text(codec) ++ [1, 7, 0, 0] ++ Bytes.bigEndian(extra.count, 4) ++ extra
            : [4] ++ Bytes.text(order) ++ [4] ++ Bytes.text(codec) ++ [1, 7, 0, 0, 0, 0, 0]
        return Bytes.text(".ra") ++ [0xFD] ++ Bytes.bigEndian(version, 2) ++ Bytes.zeros(2)
            ++ Bytes.text(".ra\(version)") ++ Bytes.zeros(4) ++ Bytes.bigEndian(version, 2) ++ Bytes.zeros(4) ++ sizes
            ++ names
    }

    /// RealMedia with RealAudio G2 ("cook"): six seconds in rows of four packets.
    public static func realAudioCook(rows: Int = 4, frame: Int = 240, part: Int = 60) -> [UInt8] {
        // Version, samples of a frame, subbands.
        let extra: [UInt8] = [1, 0, 0, 1, 1, 0, 0, 12]
        let header = realHeader(
            5, "cook", "genr", flavor: 0, coded: 60, rows: rows, frame: frame, part: part, rate: 11_025, extra: extra)
        let packets = (0..<64).flatMap { index in
            Bytes.zeros(2) ++ Bytes.bigEndian(252, 2) ++ Bytes.zeros(2) ++ Bytes.bigEndian(index * 93, 4)
                ++ [0, index % 4 == 0 ? 2 : 0] ++ noise(240)
        }
        let rates = Bytes.repeated(Bytes.bigEndian(16_000, 4), 2) ++ Bytes.repeated(Bytes.bigEndian(240, 4), 2)
        let stream =
            Bytes.zeros(2) ++ rates ++ Bytes.zeros(8) ++ Bytes.bigEndian(64 * 93, 4) ++ [0, 20]
            ++ Bytes.text("audio/x-pn-realaudio") ++ Bytes.bigEndian(header.count, 4) ++ header
        let properties =
            rates ++ Bytes.bigEndian(64, 4) ++ Bytes.bigEndian(64 * 93, 4) ++ Bytes.zeros(12) ++ [0, 1, 0, 3]
        return object(".RMF", [0, 0, 0, 0, 0, 0, 0, 4]) ++ object("PROP", properties) ++ object("MDPR", stream)
            ++ object("DATA", Bytes.bigEndian(64, 4) ++ Bytes.zeros(4) ++ packets)
    }

    private static func object(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Bytes.text(name) ++ Bytes.bigEndian(content.count + 10, 4) ++ Bytes.zeros(2) ++ content
    }

    // MARK: Windows

    /// A WAV of DSP Group's TrueSpeech, with frames of 32 bytes.
    private static let truespeech: [UInt8] = {
        let format =
            Bytes.littleEndian(0x22, 2) ++ [1, 0] ++ Bytes.littleEndian(8_000, 4) ++ Bytes.littleEndian(1_067, 4)
            ++ [32, 0, 1, 0] ++ Bytes.littleEndian(32, 2) ++ [1, 0, 0xF0, 0] ++ Bytes.zeros(28)
        let samples = Bytes.riff("fact", Bytes.littleEndian(240 * 40, 4)) ++ Bytes.riff("data", noise(32 * 40))
        return Bytes.riff("RIFF", Bytes.text("WAVE") ++ Bytes.riff("fmt ", format) ++ samples)
    }()

    /// An AVI of Microsoft's run-length codec: 64 x 48 pixels, each frame in one color of its palette.
    public static func runLengthMovie(width: Int = 64, height: Int = 48, frames: Int = 10) -> [UInt8] {
        let row: @Sendable (UInt8) -> [UInt8] = { color in [64, color, 0, 0] }
        let pictures = (0..<frames).map { Bytes.repeated(row(UInt8($0 % 10)), 48) ++ [0, 1] }
        let main =
            Bytes.littleEndian(100_000, 4) ++ Bytes.zeros(8) ++ [0x10, 0, 0, 0] ++ Bytes.littleEndian(frames, 4)
            ++ Bytes.zeros(4) ++ [1, 0, 0, 0] ++ Bytes.zeros(4) ++ Bytes.littleEndian(width, 4)
            ++ Bytes.littleEndian(height, 4) ++ Bytes.zeros(16)
        let stream =
            Bytes.text("vidsmrle") ++ Bytes.zeros(12) ++ Bytes.littleEndian(1, 4) ++ Bytes.littleEndian(10, 4)
            ++ Bytes.zeros(4) ++ Bytes.littleEndian(frames, 4) ++ Bytes.zeros(20)
        let palette = (0..<256).flatMap { color -> [UInt8] in
            [25, 60, 90, 0].map { UInt8(truncatingIfNeeded: color * $0) }
        }
        let format =
            Bytes.littleEndian(40, 4) ++ Bytes.littleEndian(width, 4) ++ Bytes.littleEndian(height, 4) ++ [1, 0, 8, 0]
            ++ [1, 0, 0, 0] ++ Bytes.zeros(12) ++ Bytes.littleEndian(256, 4) ++ Bytes.zeros(4) ++ palette
        let list = Bytes.riff(
            "LIST", Bytes.text("strl") ++ Bytes.riff("strh", stream) ++ Bytes.riff("strf", format))
        var (offset, index, movie) = (4, [UInt8](), [UInt8]())
        for picture in pictures {
            index += Bytes.text("00dc") ++ [0x10, 0, 0, 0] ++ Bytes.littleEndian(offset, 4)
            index += Bytes.littleEndian(picture.count, 4)
            movie += Bytes.riff("00dc", picture)
            offset += 8 + picture.count + picture.count % 2
        }
        let content =
            Bytes.riff("LIST", Bytes.text("hdrl") ++ Bytes.riff("avih", main) ++ list)
            ++ Bytes.riff("LIST", Bytes.text("movi") ++ movie) ++ Bytes.riff("idx1", index)
        return Bytes.riff("RIFF", Bytes.text("AVI ") ++ content)
    }

    // MARK: Images

    /// A Photoshop document without layers, whose samples are given per channel, 8 or 16 bits each.
    ///
    /// - Parameters:
    ///   - mode: 1 gray, 2 indexed, 3 RGB, 4 CMYK.
    ///   - layers: The content of the section of layers.
    public static func photoshop(
        width: Int = 4, height: Int = 3, mode: Int = 3, depth: Int = 8, channels: [[UInt8]]? = nil,
        declaredChannels: Int? = nil, colorData: [UInt8] = [], resources: [UInt8] = [], layers: [UInt8] = [],
        isPacked: Bool = true, isLarge: Bool = false
    ) -> [UInt8] {
        let planes = channels ?? [255, 0, 0].map { [UInt8](repeating: $0, count: 12) }
        let rowBytes = max(1, (width * depth + 7) / 8)
        let rows = planes.flatMap { plane in
            stride(from: 0, to: plane.count, by: rowBytes).map { Array(plane[$0..<min($0 + rowBytes, plane.count)]) }
        }
        let packed = rows.map { [UInt8(min($0.count, 128) - 1)] ++ $0 }
        let counts = packed.flatMap { Bytes.bigEndian($0.count, isLarge ? 4 : 2) }
        let image = isPacked ? [0, 1] ++ counts ++ packed.flatMap { $0 } : [0, 0] ++ rows.flatMap { $0 }
        return Bytes.text("8BPS") ++ [0, isLarge ? 2 : 1] ++ Bytes.zeros(6)
            ++ Bytes.bigEndian(declaredChannels ?? planes.count, 2) ++ Bytes.bigEndian(height, 4)
            ++ Bytes.bigEndian(width, 4) ++ Bytes.bigEndian(depth, 2) ++ Bytes.bigEndian(mode, 2)
            ++ Bytes.bigEndian(colorData.count, 4) ++ colorData ++ Bytes.bigEndian(resources.count, 4) ++ resources
            ++ Bytes.bigEndian(layers.count, isLarge ? 8 : 4) ++ layers ++ image
    }

    /// An icon of these images, each with the size of its entry.
    public static func icon(_ images: [(width: Int, height: Int, bytes: [UInt8])], type: UInt8 = 1) -> [UInt8] {
        var offset = 6 + 16 * images.count
        var directory: [UInt8] = []
        for image in images {
            directory += [UInt8(image.width & 255), UInt8(image.height & 255), 0, 0, 1, 0, 32, 0]
            directory += Bytes.littleEndian(image.bytes.count, 4) ++ Bytes.littleEndian(offset, 4)
            offset += image.bytes.count
        }
        return [0, 0, type, 0] ++ Bytes.littleEndian(images.count, 2) ++ directory ++ images.flatMap(\.bytes)
    }

    /// The image of an icon in 24 bits: its rows from the lowest, in BGR, and its mask.
    public static func iconBitmap(
        width: Int, height: Int, depth: Int = 24, pixels: [UInt8], mask: [UInt8], declaredHeight: Int? = nil
    ) -> [UInt8] {
        Bytes.littleEndian(40, 4) ++ Bytes.littleEndian(width, 4) ++ Bytes.littleEndian(declaredHeight ?? height * 2, 4)
            ++ [1, 0, UInt8(depth), 0] ++ Bytes.zeros(24) ++ pixels ++ mask
    }
}
