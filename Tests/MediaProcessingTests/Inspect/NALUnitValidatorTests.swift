import Foundation
import MediaEngine
import MediaLibraries
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Whether a movie's samples are intact, judged by their NAL units without a decoder.
@Suite struct NALUnitValidatorTests {
    private static let avc = NALUnitValidator(codec: "h264", configuration: [1, 100, 0, 31, 0xFF, 0xE1, 0])
    private static let hevc = NALUnitValidator(
        codec: "hevc", configuration: [1] + [UInt8](repeating: 0, count: 20) + [0x0F, 0])

    /// Bytes of a slice that are neither zeros nor headers.
    private static let body = [UInt8](repeating: 0xB7, count: 3_000)
    /// Slices of an IDR frame, type I; of a predicted frame, type P; and of an IDR frame of HEVC.
    private static let idr: [UInt8] = [0x65, 0x88, 0x80] + body
    private static let predicted: [UInt8] = [0x41, 0x9A, 0x20] + body
    private static let idrHEVC: [UInt8] = [0x26, 0x01, 0xAF] + body

    private static func unit(_ bytes: [UInt8]) -> [UInt8] { ParserBytes.bigEndian(bytes.count, 4) + bytes }

    private static func zeroed(_ unit: [UInt8], bytes: Int, at start: Int = 1_000) -> [UInt8] {
        var unit = unit
        for offset in start..<start + bytes { unit[offset] = 0 }
        return unit
    }

    private func isIntact(_ validator: NALUnitValidator?, _ bytes: [UInt8]) throws -> Bool {
        try #require(validator).isIntact(.holding(bytes))
    }

    @Test(arguments: [
        ("one unit", unit(idr), true),
        ("two units", unit(predicted) + unit(predicted), true),
        ("parameter sets in front", unit([0x67, 0x64, 0]) + unit([0x68, 0xEB]) + unit(idr), true),
        ("padded with zeros", unit(idr) + [UInt8](repeating: 0, count: 9), true),
        ("zeros after the last slice", unit(idr + [UInt8](repeating: 0, count: 900)), true),
        ("nothing but zeros", [UInt8](repeating: 0, count: 64), false),
        ("a unit that is longer than the sample", unit(idr).dropLast(), false),
        ("a length of three bytes", unit(idr) + [0, 0, 1], false),
        ("another part of the file", Array((unit(idr) + unit(idr))[700..<3_700]), false),
        ("a forbidden bit", unit([0xE5] + idr.dropFirst()), false),
        ("an unknown slice type", unit([0x41, 0x85, 0xFF] + body), false),
        ("an IDR frame with predicted slices", unit([0x65, 0x9A, 0x20] + body), false),
        ("a macroblock address out of range", unit([0x41, 0, 0, 0, 1, 0xFF] + body), false),
        ("a page of zeros in a slice", unit(zeroed(idr, bytes: 1_024)), false),
        ("zeros in a unit that is not a slice", unit([0x06, 5] + zeroed(body, bytes: 1_024)), true),
    ])
    func `A sample of H.264 is intact if its NAL units are valid`(
        description: String, sample: [UInt8], isValid: Bool
    ) throws {
        #expect(try isIntact(Self.avc, sample) == isValid)
    }

    @Test(arguments: [
        ("one unit", unit(idrHEVC), true),
        ("a temporal layer of zero", unit([0x26, 0x00, 0xAF] + body), false),
        ("an unknown parameter set", unit([0x26, 0x01, 0x80, 0x02] + body), false),
        ("a page of zeros in a slice", unit(zeroed(idrHEVC, bytes: 1_024)), false),
        ("one byte", unit([0x26]), false),
        ("the end of a sequence, which has only a header", unit(idrHEVC) + unit([0x48, 0x01]), true),
    ])
    func `A sample of HEVC is intact if its NAL units are valid`(
        description: String, sample: [UInt8], isValid: Bool
    ) throws {
        #expect(try isIntact(Self.hevc, sample) == isValid)
    }

    @Test(arguments: [(unit(idr), true), (unit([0x06, 5]) + unit(idr), true), (unit(predicted), false), ([], false)])
    func `An IDR frame is distinguished from other frames`(sample: [UInt8], isIDR: Bool) throws {
        #expect(try #require(Self.avc).containsIDR(.holding(sample)) == isIDR)
    }

    @Test(
        arguments: [
            ("h264", [0, 0, 0, 1, 0x67, 0x64, 0]), ("h264", [1, 100]), ("hevc", [1, 2, 3]),
            ("vp9", [1, 2, 3, 4, 5, 6, 7]),
            ("h264", []),
        ] as [(String, [UInt8])])
    func `Streams without NAL unit lengths are not validated`(codec: String, configuration: [UInt8]) {
        #expect(NALUnitValidator(codec: codec, configuration: configuration) == nil)
    }

    private static let h264 = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -an"
    private static let validated = [
        MovieFixture("validated.mp4", .mpeg4, "\(h264) -g 25 -bf 3"),
        MovieFixture("validated-long.mov", .quickTime, "\(h264) -g 9999 -movflags +faststart"),
        MovieFixture("validated-fragments.mp4", .mpeg4, "\(h264) -g 25 -movflags frag_keyframe+empty_moov"),
        MovieFixture(
            "validated-hevc.mp4", .mpeg4, "-c:v libx265 -x265-params log-level=none -tag:v hvc1 -pix_fmt yuv420p -an"),
    ]

    /// Missing and foreign pages, as in a broken download, at any position among the samples.
    @Test(arguments: validated, [4, 13, 25, 38, 51, 64, 77, 86])
    func `A movie with a page of zeros or noise is never intact`(
        fixture: MovieFixture, percent: Int
    ) throws {
        let original = [UInt8](try Data(contentsOf: fixture.file()))
        let samples = try #require(original.firstRange(of: Array("mdat".utf8))).upperBound
        var noise = SeededGenerator(UInt64(percent))
        for isNoise in [false, true] {
            var bytes = original
            let start = samples + (bytes.count - samples) * percent / 100
            for offset in start..<min(start + 4_096, bytes.count) {
                bytes[offset] = isNoise ? UInt8(truncatingIfNeeded: noise.next()) : 0
            }
            let file = try GeneratedMedia.file("page.mp4", bytes: bytes)
            do {
                #expect(try inspect(file, as: fixture.format).damage != nil, "noise: \(isNoise)")
            } catch let error as AttachPrepError {
                #expect([.mediaCorrupt, .mediaUnsupported].contains(error.code))
            }
        }
    }
}
