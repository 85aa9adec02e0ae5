import Foundation
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// The sample entry of a movie has all parameter sets of its samples, and one size.
struct SampleEntryTests {
    private static let codecs = [
        Codec(
            name: "avc",
            arguments: "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 25 -x264-params repeat-headers=1",
            box: "avcC", inBandTag: "avc3", tag: "avc1"),
        Codec(
            name: "hevc",
            arguments: "-c:v libx265 -preset ultrafast -pix_fmt yuv420p -g 25 -tag:v hvc1"
                + " -x265-params log-level=none:repeat-headers=1:keyint=25", box: "hvcC", inBandTag: "hev1", tag: "hvc1"
        ),
    ]

    struct Codec: Sendable, CustomStringConvertible {
        let name: String
        let arguments: String
        let box: String
        let inBandTag: String
        let tag: String

        var description: String { name }

        /// A movie with its sets in the samples and in the sample entry.
        func file() throws -> URL { try GeneratedMedia.numbered("\(name).mp4", "\(arguments) -c:a aac") }

        /// The same movie with its sets only in the samples.
        func fileWithoutSets(tag newTag: String) throws -> URL {
            var bytes = [UInt8](try Data(contentsOf: file()))
            let content = try #require(bytes.firstRange(of: Array(box.utf8))).upperBound
            let size = bytes[content - 8..<content - 4].reduce(0) { $0 << 8 | Int($1) } - 8
            if box == "avcC" {
                let rest = [0xE0, 0] + [UInt8](repeating: 0, count: size - 7)
                bytes.replaceSubrange(content + 5..<content + size, with: rest)
            } else {
                bytes[content + 22] = 0
            }
            let description = try #require(bytes.firstRange(of: Array("stsd".utf8))).upperBound
            let entry = try #require(bytes[description...].firstRange(of: Array(tag.utf8)))
            bytes.replaceSubrange(entry, with: Array(newTag.utf8))
            return try GeneratedMedia.file("\(newTag)-bare.mp4", bytes: bytes)
        }
    }

    @Test(arguments: codecs) func `Sets that are repeated in the samples are no defect`(codec: Codec) throws {
        #expect(try inspect(codec.file()).containerDefect == nil)
    }

    @Test(arguments: codecs, [true, false])
    func `A copy moves sets from the samples into the sample entry`(codec: Codec, isInBand: Bool) throws {
        let file = try codec.fileWithoutSets(tag: isInBand ? codec.inBandTag : codec.tag)
        #expect(try inspect(file).containerDefect == .parameterSetsMissing)
        let movie = try RenderedMovie(file, format: .mpeg4, copies: true)
        #expect(try movie.probe("v", "codec_tag_string") == ["codec_tag_string": codec.tag])
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(codec.file()))
        // A decoder that reads no sets from the samples: their units are removed.
        let bare = try GeneratedMedia.file(
            "stripped.mp4",
            ["-i", movie.file.path, "-map", "0:v", "-c", "copy", "-bsf:v"]
                + [codec.name == "avc" ? "filter_units=remove_types=7-8" : "filter_units=remove_types=32-34"])
        #expect(try MovieProbe.times(bare).count == 125)
        #expect(try inspect(movie.file).containerDefect == nil)
    }

    @Test(arguments: [[0], [1], [0, 1]])
    func `An edit without a duration gets one in a copy`(tracks: [Int]) throws {
        let source = try GeneratedMedia.numbered(
            "edits.mp4", "-c:v libx264 -preset veryfast -pix_fmt yuv420p -bf 2 -c:a aac")
        var bytes = [UInt8](try Data(contentsOf: source))
        var offset = 0
        for number in 0...1 {
            offset = try #require(bytes[offset...].firstRange(of: Array("elst".utf8))).upperBound
            if tracks.contains(number) { bytes.replaceSubrange(offset + 8..<offset + 12, with: [0, 0, 0, 0]) }
        }
        let file = try GeneratedMedia.file("endless.mp4", bytes: bytes)
        let media = try inspect(file)
        #expect(media.containerDefect == .editWithoutEnd && media.damage == nil && media.audio.count == 1)
        let movie = try RenderedMovie(file, format: .mpeg4, copies: true)
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(source))
        #expect(try movie.probe("a", "nb_frames") == MovieProbe.stream(source, "a", "nb_frames"))
        #expect(try inspect(movie.file).containerDefect == nil)
    }

    @Test func `A flat copy of fragments has all of their audio`() throws {
        let whole = try GeneratedMedia.numbered(
            "whole.mp4", "-c:v libx264 -preset veryfast -pix_fmt yuv420p -bf 2 -c:a aac")
        let source = try GeneratedMedia.file(
            "delayed.mp4",
            ["-i", whole.path, "-c", "copy", "-movflags", "+frag_keyframe+delay_moov+default_base_moof"])
        let movie = try RenderedMovie(source, format: .mpeg4, copies: true)
        func audio(_ file: URL) throws -> Int {
            try RunCommand("ffmpeg", ["-v", "error", "-i", file.path, "-map", "0:a", "-f", "s16le", "-"]).runBlocking()
                .output.count
        }
        // An edit's duration is in milliseconds; a packet has some 23.
        #expect(try abs(audio(movie.file) - audio(whole)) < 500)
    }

    /// Two parts of different sizes, one after the other.
    private func changing(_ name: String) throws -> URL {
        let part = "-t 2 -c:v libx264 -preset veryfast -pix_fmt yuv420p -g 25 -bf 0 -an -f mpegts"
        let first = try GeneratedMedia.numbered("first.ts", part)
        let second = try GeneratedMedia.numbered(
            "second.ts", "-vf scale=640:480:flags=neighbor \(part) -output_ts_offset 2")
        let joined = try GeneratedMedia.file(
            "joined.ts", bytes: try Data(contentsOf: first) + Data(contentsOf: second))
        return name.hasSuffix("ts")
            ? joined : try GeneratedMedia.file(name, ["-i", joined.path, "-c", "copy"])
    }

    @Test(arguments: [("size.ts", MediaFormat.mpegTransportStream), ("size.mp4", .mpeg4), ("size.mkv", .matroska)])
    func `A movie that changes its size is encoded in one size`(name: String, format: MediaFormat) throws {
        let file = try changing(name)
        #expect(try inspect(file).containerDefect == .parameterSetsChange)
        let movie = try RenderedMovie(file, format: format, copies: true)
        #expect(try movie.decodeWarnings() == "")
        #expect(try movie.times().count == 100)
        for time in [1.0, 3.0] {
            let shown = try frame(movie.file, at: time)
            #expect(shown.frame.width == 320 && shown.number == Int(time * 25) % 50)
        }
    }

    @Test func `A fragmented MP4 is copied into one without fragments`() throws {
        let fixture = try #require(MovieFixture.attachableMovies.first { $0.name == "fragmented.mp4" })
        let source = try fixture.file()
        #expect(try inspect(source).containerDefect == .fragmented)
        let movie = try RenderedMovie(fixture, copies: true)
        #expect(try inspect(movie.file).containerDefect == nil)
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(source))
        #expect(try movie.probe("a", "codec_name") == ["codec_name": "aac"])
        #expect(try movie.bytes.firstRange(of: Array("moof".utf8)) == nil)
    }

    @Test func `A frame beside a jump of a transport stream's counter is kept`() throws {
        let whole = try GeneratedMedia.numbered(
            "counter.ts", "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 25 -bf 0 -an")
        var bytes = [UInt8](try Data(contentsOf: whole))
        // Every packet of the video from the middle on counts one more.
        let middle = bytes.count / 188 / 2 * 188
        for packet in stride(from: middle, to: bytes.count, by: 188)
        where bytes[packet + 1] & 0x1F == 1 && bytes[packet + 2] == 0 {
            bytes[packet + 3] = bytes[packet + 3] & 0xF0 | (bytes[packet + 3] &+ 1) & 0x0F
        }
        let movie = try RenderedMovie(
            GeneratedMedia.file("jump.ts", bytes: bytes), format: .mpegTransportStream, copies: true)
        #expect(try movie.times().count == 125)
        #expect(try MovieProbe.videoDigest(movie.file) == MovieProbe.videoDigest(whole))
    }
}
