import Foundation
import TestSupport

/// A transport stream whose program association table names many programs (ISO/IEC 13818-1, 2.4.4.3).
enum ProgramTable {
    private static let programsPerSection = 250
    private static let packetBytes = 188

    /// Packets of the table alone: libav looks through all known programs for each one that it reads.
    static func transportStream(programs: Int) -> [UInt8] {
        var (stream, counter): ([UInt8], UInt8) = ([], 0)
        let numbers = Array(1...programs)
        for (index, start) in stride(from: 0, to: programs, by: programsPerSection).enumerated() {
            var rest = [0] ++ section(numbers[start...].prefix(programsPerSection), index: index)
            var begins: UInt8 = 0x40
            while !rest.isEmpty {
                let packet = [0x47, begins, 0, 0x10 | counter] ++ Array(rest.prefix(packetBytes - 4))
                stream += packet + [UInt8](repeating: 0xFF, count: packetBytes - packet.count)
                rest = Array(rest.dropFirst(packetBytes - 4))
                (counter, begins) = ((counter + 1) & 15, 0)
            }
        }
        return stream
    }

    private static func section(_ programs: ArraySlice<Int>, index: Int) -> [UInt8] {
        let version = UInt8(0xC1 | (index / 256 % 16) << 1)
        var body: [UInt8] = [0, 1, version, UInt8(index % 256), 255]
        for program in programs {
            body += MediaBytes.bigEndian(program & 0xFFFF, 2) ++ MediaBytes.bigEndian(0xE020 + program % 8_000, 2)
        }
        let section = [0] ++ MediaBytes.bigEndian(0xB000 | body.count + 4, 2) ++ body
        return section ++ MediaBytes.bigEndian(Int(checksum(section)), 4)
    }

    /// CRC-32 of MPEG-2, the highest bit first.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0xFFFF_FFFF) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in
                sum & 1 << 31 == 0 ? sum << 1 : sum << 1 ^ 0x04C1_1DB7
            }
        }
    }
}

/// Images of one color with many pixels in a few bytes.
enum OneColor {
    /// 10,900 x 10,900 pixels, lossless, in 298 bytes; written by OpenJPEG 2.5.0.
    static let jpeg2000 = [UInt8](
        Data(
            base64Encoded: [
                "AAAADGpQICANCocKAAAAFGZ0eXBqcDIgAAAAAGpwMiAAAAAtanAyaAAAABZpaGRyAAAqlAAAKpQAAwcHAAAAAAAPY29scgEAAAAA",
                "AAAAAADdanAyY/9P/1EALwAAAAAqlAAAKpQAAAAAAAAAAAAAKpQAACqUAAAAAAAAAAAAAwcBAQcBAQcBAf9SAAwAAAABAQcEBAAB",
                "/1wAGUBASEhQSEhQSEhQSEhQSEhQSEhQSEhQ/2QAJQABQ3JlYXRlZCBieSBPcGVuSlBFRyB2ZXJzaW9uIDIuNS4w/5AACgAAAAAA",
                "UAAB/5Pv4BX8Aj+AR/AHEVBUr/9/6YlgfxFQVK//fZ1PEVBUr/92Nj8RUFSv/e2RgICAgICAgICAgICAgICAgICAgICAgID/2Q==",
            ].joined()) ?? Data())

    /// 7,000 x 7,000 pixels, lossless, in some 2 KB.
    static func jpegXL(in folder: TemporaryFolder) async throws -> String {
        let side = 7_000
        let pixels = MediaBytes.zlibBomb(side * (1 + side * 3))
        let png = try folder.write(
            MediaBytes.pngSignature ++ MediaBytes.pngHeader(side, side) ++ MediaBytes.png("IDAT", pixels)
                ++ MediaBytes.png("IEND"), to: "one-color.png")
        let image = folder.path("one-color.jxl")
        _ = try await RunCommand("/usr/bin/cjxl", [png, image, "-d", "0", "-e", "3"], folder: folder.path).run()
        return image
    }
}
