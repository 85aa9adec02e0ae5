import Foundation
import MediaEngine
import MediaLibraries
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Extreme timestamps and durations: counting ticks or samples must not crash the process. Most of these files pass
/// inspection, which takes the duration from the sum of the samples.
@Suite struct HostileTimeTests {
    /// The largest value that is still accepted as a time, in ticks.
    private static let furthest: Int64 = 1 << 60
    /// Nanoseconds per tick: the usual number, and the largest in Matroska.
    private static let scales: [UInt32] = [1_000_000, .max]

    private static func videoBlocks(_ count: Int) -> [SyntheticMatroska.Block] {
        (0..<count).map { SyntheticMatroska.Block(time: Int64($0) * 100) }
    }

    private static func audioBlocks(_ count: Int) -> [SyntheticMatroska.Block] {
        (0..<count).map { SyntheticMatroska.Block(time: Int64($0) * 100, isAudio: true) }
    }

    /// Converts the file; an error must be one that the product defines.
    private func convert(_ movie: SyntheticMatroska) throws {
        do {
            let rendered = try RenderedMovie(movie.file(), format: .matroska, budget: 10)
            #expect((rendered.media.attachment?.duration ?? -1) >= 0)
        } catch let error as AttachPrepError {
            #expect(error.code != .internal, "\(error)")
        }
    }

    @Test func `A synthetic Matroska file is converted completely`() throws {
        var movie = SyntheticMatroska(
            hasAudio: true, blocks: zip(Self.videoBlocks(20), Self.audioBlocks(20)).flatMap { [$0, $1] })
        let complete = try RenderedMovie(movie.file(), format: .matroska)
        #expect(abs((complete.media.attachment?.duration ?? 0) - 2) < 0.2)
        movie.hasVideo = false
        movie.blocks = Self.audioBlocks(20)
        let audio = try RenderedAudio(movie.file(), .matroskaAudio, AudioRendition(bytesMax: 100_000, copies: false))
        #expect(abs((audio.media.attachment?.duration ?? 0) - 2) < 0.2)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max], [Int32.min, 0, 1, .max])
    func `Conversions between ticks and seconds do not overflow`(
        ticks: Int64, numerator: Int32
    ) {
        for denominator in [Int32.min, 0, 1, .max] {
            let base = TimeBase(numerator: numerator, denominator: denominator)
            #expect(abs(base.seconds(ticks)) <= TimeBase.secondsMax)
            #expect(base.ticks(base.seconds(ticks)).magnitude < Int64.max.magnitude)
        }
    }

    @Test func `An impossible duration can be formatted`() {
        #expect(AudioReport.length(1e300).hasSuffix(" s"))
        #expect(AudioReport.length(.nan) == "0 s")
    }

    @Test(arguments: scales, [-furthest, -furthest / 1_000, furthest / 1_000, furthest])
    func `A frame with an extreme timestamp does not crash the process`(scale: UInt32, time: Int64) throws {
        for index in [0, 6] {
            var blocks = Self.videoBlocks(12)
            blocks[index].time = time
            try convert(SyntheticMatroska(scale: scale, blocks: blocks))
        }
    }

    @Test(arguments: scales, [0, 6])
    func `A frame with an extreme duration does not crash the process`(scale: UInt32, index: Int) throws {
        var blocks = Self.videoBlocks(12)
        blocks[index].duration = Self.furthest
        try convert(SyntheticMatroska(scale: scale, blocks: blocks))
    }

    @Test(arguments: scales, [0, 6])
    func `A movie's audio with an extreme duration does not crash the process`(scale: UInt32, index: Int) throws {
        var audio = Self.audioBlocks(12)
        audio[index].duration = Self.furthest
        let blocks = zip(Self.videoBlocks(12), audio).flatMap { [$0, $1] }
        try convert(SyntheticMatroska(scale: scale, hasAudio: true, blocks: blocks))
    }

    @Test(arguments: scales, [-furthest, furthest])
    func `A movie's audio with an extreme timestamp does not crash the process`(scale: UInt32, time: Int64) throws {
        for index in [0, 6] {
            var audio = Self.audioBlocks(12)
            audio[index].time = time
            let blocks = zip(Self.videoBlocks(12), audio).flatMap { [$0, $1] }
            try convert(SyntheticMatroska(scale: scale, hasAudio: true, blocks: blocks))
        }
    }

    @Test(arguments: scales, [true, false])
    func `Audio with an extreme duration does not crash the process`(scale: UInt32, isRepair: Bool) throws {
        for index in [0, 6] {
            var audio = Self.audioBlocks(12)
            audio[index].duration = Self.furthest
            var rendition = AudioRendition(bytesMax: 20_000, copies: false)
            rendition.isRepair = isRepair
            let file = try SyntheticMatroska(scale: scale, hasVideo: false, hasAudio: true, blocks: audio).file()
            do {
                let rendered = try RenderedAudio(file, .matroskaAudio, rendition, seconds: 10)
                #expect((rendered.media.attachment?.duration ?? -1) >= 0)
            } catch let error as AttachPrepError {
                #expect(error.code != .internal, "\(error)")
            }
        }
    }
}

/// A Matroska file with arbitrary timestamps: video as JPEG, audio as 8-bit PCM at 8,000 Hz.
struct SyntheticMatroska {
    /// A tenth of a second of one track.
    struct Block {
        /// In ticks of the file; nil is written as "unknown".
        var time: Int64?
        /// In ticks of the file; nil omits it.
        var duration: Int64?
        var isAudio = false
    }

    /// Nanoseconds per tick.
    var scale: UInt32 = 1_000_000
    var hasVideo = true
    var hasAudio = false
    var blocks: [Block]

    func file() throws -> URL { try GeneratedMedia.file("written.mkv", bytes: bytes()) }

    private func bytes() throws -> [UInt8] {
        let info = MediaBytes.ebml(0x1549_A966, Self.number(0x2AD7B1, Int64(scale)))
        let tracks = MediaBytes.ebml(
            0x1654_AE6B, (hasVideo ? Self.videoTrack : []) + (hasAudio ? Self.audioTrack : []))
        let clusters = try blocks.flatMap(cluster)
        return MediaBytes.ebml(0x1A45_DFA3, MediaBytes.ebml(0x4282, Array("matroska".utf8)))
            + MediaBytes.ebml(0x1853_8067, info + tracks + clusters)
    }

    /// Every block has its own cluster, whose timestamp has 64 bits.
    private func cluster(_ block: Block) throws -> [UInt8] {
        let data = block.isAudio ? [UInt8](repeating: 128, count: 800) : try Self.frame()
        let content = MediaBytes.ebml(0xA1, [block.isAudio ? 0x82 : 0x81, 0, 0, 0] + data)
        let duration = block.duration.map { Self.number(0x9B, $0) } ?? []
        return MediaBytes.ebml(
            0x1F43_B675,
            Self.number(0xE7, block.time ?? -1) + MediaBytes.ebml(0xA0, content + duration))
    }

    private static let videoTrack = MediaBytes.ebml(
        0xAE,
        number(0xD7, 1) + number(0x73C5, 1) + number(0x83, 1) + MediaBytes.ebml(0x86, Array("V_MJPEG".utf8))
            + MediaBytes.ebml(0xE0, number(0xB0, 64) + number(0xBA, 48)))

    private static let audioTrack = MediaBytes.ebml(
        0xAE,
        number(0xD7, 2) + number(0x73C5, 2) + number(0x83, 2) + MediaBytes.ebml(0x86, Array("A_PCM/INT/LIT".utf8))
            + MediaBytes.ebml(0xE1, MediaBytes.ebml(0xB5, [0x45, 0xFA, 0, 0]) + number(0x9F, 1) + number(0x6264, 8)))

    private static func frame() throws -> [UInt8] {
        let file = try GeneratedMedia.file(
            "small.jpg", ["-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "1", "-pix_fmt", "yuvj420p"])
        return [UInt8](try Data(contentsOf: file))
    }

    private static func number(_ identifier: Int, _ value: Int64) -> [UInt8] {
        MediaBytes.ebml(identifier, ParserBytes.bigEndian(Int(value), 8))
    }
}
