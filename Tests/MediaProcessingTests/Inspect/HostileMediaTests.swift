import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import MediaProcessing

/// Movies and audio with false or missing data.
@Suite struct HostileMediaTests {
    private func code(_ file: URL, as format: MediaFormat? = nil) -> ErrorCode? {
        #expect(throws: AttachPrepError.self) { try inspect(file, as: format) }?.code
    }

    /// A copy of the file with bytes overwritten at an offset after a marker.
    private func patched(
        _ file: URL, after marker: String, at offset: Int, with bytes: [UInt8], everywhere: Bool = false
    ) throws -> URL {
        var all = [UInt8](try Data(contentsOf: file))
        var start = 0
        var found = 0
        while let range = all[start...].firstRange(of: Array(marker.utf8)) {
            all.replaceSubrange(range.upperBound + offset..<range.upperBound + offset + bytes.count, with: bytes)
            start = range.upperBound
            found += 1
            if !everywhere { break }
        }
        #expect(found > 0)
        return try GeneratedMedia.file("patched-\(file.lastPathComponent)", bytes: all)
    }

    // MARK: No samples

    @Test func `An audio track without samples is corrupt or unsupported`() throws {
        let file = try GeneratedMedia.file(
            "none.mp4",
            [
                "-f", "lavfi", "-i", "sine", "-frames:a", "0", "-c:a", "aac", "-movflags",
                "empty_moov+default_base_moof", "-f", "mp4",
            ])
        #expect([.mediaCorrupt, .mediaUnsupported].contains(code(file, as: .mpeg4)))
    }

    @Test func `A movie whose video track has no samples is inspected as audio`() throws {
        let complete = try GeneratedMedia.numbered("both.mp4", "-t 1 -c:v libx264 -pix_fmt yuv420p -c:a aac")
        var bytes = [UInt8](try Data(contentsOf: complete))
        // The first sample table is that of the video: sets the counts of sizes, times, keyframes and chunks to zero.
        for table in ["stts", "stss", "ctts", "stsc", "stsz", "stco"] {
            guard let range = bytes.firstRange(of: Array(table.utf8)) else { continue }
            let count = range.upperBound + (table == "stsz" ? 8 : 4)
            bytes.replaceSubrange(count..<count + 4, with: [0, 0, 0, 0])
        }
        let media = try inspect(GeneratedMedia.file("no-video-samples.mp4", bytes: bytes), as: .mpeg4)
        #expect(media.format == .mpeg4Audio)
        #expect(media.video == nil)
    }

    @Test func `A WAV without samples is corrupt`() throws {
        let complete = [UInt8](try Data(contentsOf: MovieFixture.attachableAudio[0].file()))
        let end = try #require(complete.firstRange(of: Array("data".utf8))).upperBound
        let empty = complete[..<end] + [0, 0, 0, 0]
        #expect(code(try GeneratedMedia.file("empty.wav", bytes: empty), as: .wave) == .mediaCorrupt)
    }

    @Test func `An unfinished WAV is read to its end and reported as not counted`() throws {
        let file = try patched(MovieFixture.attachableAudio[0].file(), after: "data", at: 0, with: [0, 0, 0, 0])
        let media = try inspect(file, as: .wave)
        #expect(media.damage == nil && media.containerDefect == .samplesNotCounted)
        #expect(abs((media.duration ?? 0) - 5) < 0.1)
    }

    // MARK: False durations

    /// A hundred hours and a tenth of a second, in thousandths.
    @Test(arguments: [[0x15, 0x75, 0x2A, 0x00], [0, 0, 0, 100] as [UInt8]])
    func `The duration of an MP4 comes from its samples, not its headers`(duration: [UInt8]) throws {
        let file = try MovieFixture.attachableMovies[0].file()
        let patchedOnce = try patched(file, after: "mvhd", at: 16, with: duration)
        let twice = try patched(patchedOnce, after: "tkhd", at: 20, with: duration, everywhere: true)
        #expect(abs((try inspect(twice).duration ?? 0) - 5) < 0.1)
    }

    @Test func `The duration of a Matroska file comes from its blocks, not its header`() throws {
        let file = try MovieFixture.otherMovies[9].file()
        // Duration: a float of eight bytes.
        var bytes = [UInt8](try Data(contentsOf: file))
        let range = try #require(bytes.firstRange(of: [0x44, 0x89, 0x88]))
        bytes.replaceSubrange(
            range.upperBound..<range.upperBound + 8, with: [0x41, 0xB5, 0x75, 0x2A, 0, 0, 0, 0])
        #expect(abs((try inspect(GeneratedMedia.file("false-duration.mkv", bytes: bytes)).duration ?? 0) - 5) < 0.1)
    }

    @Test
    func `A FLAC that declares too many samples is corrupt, and one that declares too few is read to its end`() throws {
        let file = try GeneratedMedia.numbered("flac.flac", "-vn -c:a flac")
        let bytes = [UInt8](try Data(contentsOf: file))
        // The last 32 bits of the number of samples are at offset 22 of the file.
        func declaring(_ count: [UInt8]) throws -> URL {
            var changed = bytes
            changed.replaceSubrange(22..<26, with: count)
            return try GeneratedMedia.file("flac.flac", bytes: changed)
        }
        #expect(code(try declaring([0xF0, 0, 0, 0]), as: .flac) == .mediaCorrupt)
        let short = try declaring([0, 0, 0xAC, 0x44])
        #expect(abs((try inspect(short, as: .flac).duration ?? 0) - 5) < 0.1)
        let audio = try RenderedAudio(short, .flac, AudioRendition(bytesMax: Limits.audioBytesMax, copies: false))
        #expect(abs(try audio.duration - 5) < 0.05)
    }

    // MARK: Absurd times

    @Test func `Timestamps that start after 100 hours are shifted to zero`() throws {
        let file = try GeneratedMedia.numbered("late.mka", "-vn -c:a libopus -output_ts_offset 360000")
        #expect(abs((try inspect(file).duration ?? 0) - 5) < 0.1)
        let rendition = AudioRendition(bytesMax: Limits.audioBytesMax, copies: false)
        #expect(abs(try RenderedAudio(file, .matroskaAudio, rendition).duration - 5) < 0.1)
    }

    @Test func `A timestamp jump of 100 hours is rejected as too long`() throws {
        let file = try GeneratedMedia.numbered(
            "jump.mkv", "-an -c:v libx264 -vf setpts='PTS+if(gt(N,60),360000/TB,0)' -fps_mode passthrough")
        #expect(code(file) == .mediaTooLong)
    }

    @Test func `A movie of one frame lasts as long as that frame`() throws {
        for arguments in ["-frames:v 1 -an -c:v libx264 -f matroska", "-frames:v 1 -an -c:v mpeg4 -f avi"] {
            let media = try inspect(GeneratedMedia.numbered("single.bin", arguments))
            #expect((0...0.1).contains(media.duration ?? -1))
            #expect(media.video?.lastFrameTime == 0)
        }
    }

    // MARK: Cover art

    @Test(arguments: [("png", 20_000), ("jpg", 20_000), ("png", 7_000)])
    func `Oversized cover art is skipped and the audio is kept`(type: String, side: Int) throws {
        let name = "bomb.\(type)"
        let bomb = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-\(name)")
        try GeneratedMedia.run("vips", ["black", bomb.path, "\(side)", "\(side)"])
        let image = [UInt8](try Data(contentsOf: bomb))
        let audio = try GeneratedMedia.numbered("bare.mp3", "-vn -c:a libmp3lame -id3v2_version 0")
        let tag = Self.tag(image, type: "image/\(type == "jpg" ? "jpeg" : type)")
        let file = try GeneratedMedia.file("bomb.mp3", bytes: try tag + Data(contentsOf: audio))
        let media = try inspect(file, as: .mp3)
        #expect(media.kind == .audio && media.hasCoverArt && media.damage == nil)
        let render = try RenderedStill(file.path, format: .mp3, frameSelection: .coverArt)
        #expect(render.media.thumbnail == nil)
    }

    /// An ID3v2.3 tag that holds a front cover.
    private static func tag(_ image: [UInt8], type: String) -> [UInt8] {
        let content = [0] + Array(type.utf8) + [0, 3, 0] + image
        let size = (0..<4).map { UInt8(truncatingIfNeeded: content.count >> (24 - 8 * $0)) }
        let frame = Array("APIC".utf8) + size + [0, 0] + content
        let total = (0..<4).map { UInt8(frame.count >> (21 - 7 * $0) & 0x7F) }
        return Array("ID3".utf8) + [3, 0, 0] + total + frame
    }
}
