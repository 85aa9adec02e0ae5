import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// EXIF in a text chunk of a PNG, by which some decoders turn the pixels (issue 44).
@Suite struct PNGTextOrientationTests {
    enum Chunk: String, CaseIterable {
        case tEXt, zTXt, iTXt

        /// A text chunk with the keyword.
        func bytes(_ keyword: String, _ text: [UInt8]) -> [UInt8] {
            let head = MediaBytes.text(keyword) + [0]
            return switch self {
            case .tEXt: MediaBytes.png("tEXt", head + text)
            case .zTXt: MediaBytes.png("zTXt", head + [0] + Self.zlib(text))
            case .iTXt: MediaBytes.png("iTXt", head + [0, 0, 0, 0] + text)
            }
        }

        /// A zlib stream of one stored block.
        private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
            var (low, high) = (1, 0)
            for byte in bytes {
                low = (low + Int(byte)) % 65_521
                high = (high + low) % 65_521
            }
            let length = MediaBytes.littleEndian(bytes.count, 2)
            return [0x78, 0x01, 1] ++ length ++ length.map { ~$0 } ++ bytes
                ++ MediaBytes.bigEndian(high << 16 | low, 4)
        }
    }

    /// An EXIF block with an orientation only.
    private static func exif(_ orientation: UInt8) -> [UInt8] {
        [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }

    private static func rawProfile(_ orientation: UInt8, name: String = "exif") -> [UInt8] {
        let block = [0x45, 0x78, 0x69, 0x66, 0, 0] + exif(orientation)
        let digits = block.map { String(format: "%02x", $0) }.joined()
        return MediaBytes.text("\n\(name)\n      \(block.count)\n\(digits.prefix(72))\n\(digits.dropFirst(72))\n")
    }

    /// The motif turned left, with chunks after the header, or before the end.
    private func file(_ chunks: [UInt8], atEnd: Bool = false) throws -> URL {
        let turned = try StillFixture.converted("left.png", ["-rotate", "270"])
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: turned)))
        bytes.insert(contentsOf: chunks, at: atEnd ? bytes.count - 12 : 33)
        return try GeneratedMedia.file("text-\(UUID().uuidString).png", bytes: bytes)
    }

    private func inspected(_ file: URL) throws -> InspectedMedia {
        try withDescriptor(file) { descriptor in
            let call = MediaCall.inspect(InspectRequest(format: .png, decodesStills: false))
            let answer = try MediaProcessor().perform(call, descriptors: [descriptor], deadline: .now + .seconds(30))
            guard case .inspected(let media, _) = answer else {
                throw GeneratedMedia.FixtureError(description: "not inspected: \(answer)")
            }
            return media
        }
    }

    @Test(arguments: Chunk.allCases, ["Raw profile type exif", "Raw profile type APP1"])
    func `Pixels are turned by an orientation in a text chunk`(chunk: Chunk, keyword: String) throws {
        let file = try file(chunk.bytes(keyword, Self.rawProfile(6)))
        let media = try inspected(file)
        let motif = try TestImage(decoding: StillFixture.sample("grid.png"))
        #expect(media.containerDefect == .orientationInText)
        #expect((media.width, media.height) == (motif.width, motif.height))
        let both = try RenderedStill(file.path, format: .png, reencodes: true)
        #expect(both.media.attachment?.type == .png)
        #expect(try both.image(.attachment).bytes == motif.bytes)
        #expect(try !both.bytes(.attachment).contains(Array("EXt".utf8)))
        let thumbnail = try RenderedStill(file.path, format: .png)
        for still in [both, thumbnail] {
            #expect(SampleMotif.cells(in: try still.image(.thumbnail)) == Array(1...12))
        }
    }

    @Test func `Text chunks without such an orientation change nothing`() throws {
        let chunks: [[UInt8]] = [
            Chunk.tEXt.bytes("Raw profile type exif", Self.rawProfile(1)),
            Chunk.tEXt.bytes("Raw profile type exif", MediaBytes.text("\nexif\n 5\n4x\n")),
            Chunk.tEXt.bytes("Raw profile type xmp", Self.rawProfile(6)),
            Chunk.tEXt.bytes("Raw profile type APP1", MediaBytes.text("\nAPP1\n 4\n3c783a78\n")),
            // The chunk for EXIF takes precedence.
            MediaBytes.png("eXIf", Self.exif(1)) + Chunk.tEXt.bytes("Raw profile type exif", Self.rawProfile(6)),
        ]
        for chunk in chunks {
            let media = try inspected(file(chunk))
            #expect(media.containerDefect == nil && media.orientation == .upright)
        }
        let late = try inspected(file(Chunk.tEXt.bytes("Raw profile type exif", Self.rawProfile(6)), atEnd: true))
        #expect(late.containerDefect == nil)
    }
}
