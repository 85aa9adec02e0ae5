import AttachPrepModel
import Foundation
import MediaEngine
import RichPush
import TestSupport
import Testing

/// Old audio and movie formats: intact ones are described, damaged ones never pass as intact.
@Suite struct LegacyMediaTests {
    static let audio: [(String, MediaFormat, String, ClosedRange<Double>)] = [
        ("tone.dsf", .dsf, "dsd_lsbf_planar", 0.1...0.11), ("wide.dsf", .dsf, "dsd_msbf_planar", 0.1...0.11),
        ("tone.dff", .dff, "dsd_msbf", 0.1...0.11), ("silence.ape", .monkeysAudio, "ape", 0.99...1.01),
        ("silence-7.mpc", .musepack, "musepack7", 0.95...1), ("silence-8.mpc", .musepack, "musepack8", 0.95...1.02),
        ("noise-144.ra", .realAudio, "ra_144", 1...3), ("noise-288.ra", .realAudio, "ra_288", 6...8),
        ("noise-sipr.ra", .realAudio, "sipr", 6...8), ("noise-cook.rm", .realAudio, "cook", 5...7),
        ("noise-truespeech.wav", .wave, "truespeech", 1.1...1.3),
    ]

    private func inspected(_ name: String, _ bytes: [UInt8], as format: MediaFormat) throws -> InspectedMedia {
        try inspect(GeneratedMedia.file(name, bytes: bytes), as: format)
    }

    @Test(arguments: audio)
    func `The codec and the duration of old audio are measured`(
        name: String, format: MediaFormat, codec: String, duration: ClosedRange<Double>
    ) throws {
        let media = try inspected(name, LegacyMedia.bytes(name), as: format)
        #expect(media.format == format && media.audio.map(\.codec) == [codec])
        #expect(duration.contains(media.duration ?? 0), "\(media.duration ?? 0)")
        #expect(media.damage == nil)
    }

    @Test func `A movie of run lengths has its size and duration`() throws {
        let media = try inspected("runs.avi", LegacyMedia.bytes("runs.avi"), as: .avi)
        #expect(media.video?.codec == "msrle" && (media.width, media.height) == (64, 48))
        #expect(abs((media.duration ?? 0) - 1) < 0.05)
    }

    /// Formats that declare their length: what is missing at the end is noticed.
    @Test(
        arguments: ["tone.dsf", "tone.dff", "silence.ape", "silence-7.mpc", "silence-8.mpc", "noise-cook.rm"], [40, 80])
    func `A truncated file never passes as intact`(name: String, percent: Int) throws {
        let bytes = LegacyMedia.bytes(name)
        let format = try #require(Self.audio.first { $0.0 == name }).1
        do {
            let media = try inspected(name, Array(bytes.prefix(bytes.count * percent / 100)), as: format)
            #expect(media.damage != nil, "\(media.duration ?? 0) s passed as intact")
        } catch let error as AttachPrepError {
            #expect(error.code == .mediaCorrupt)
        }
    }

    @Test(arguments: LegacyMedia.all.map(\.name).filter { $0 != "red.psd" }, ["zeros", "noise"])
    func `A file of zeros or noise behind its first 64 bytes is read as damaged, or in a short time`(
        name: String, filling: String
    ) throws {
        let bytes = LegacyMedia.bytes(name)
        let rest = bytes.count - 64
        let filled = bytes.prefix(64) + (filling == "zeros" ? MediaBytes.zeros(rest) : LegacyMedia.noise(rest))
        let format = Self.audio.first { $0.0 == name }?.1 ?? .avi
        do { _ = try inspected(name, Array(filled), as: format) } catch let error as AttachPrepError {
            #expect([.mediaCorrupt, .mediaUnsupported, .mediaTooManyPixels, .mediaTooLong].contains(error.code))
        }
    }
}
