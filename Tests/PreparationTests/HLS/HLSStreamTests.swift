import AttachPrep
import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

/// Finished streams: each frame of the result has the number and the time that it has in the stream.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HLSStreamTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let name: String
        var source = HLSStream.standard
        var input = ""
        var arguments = ""

        var testDescription: String { name }
    }

    private static let video = "-c:v libx264 -preset veryfast -sc_threshold 0 -pix_fmt yuv420p"

    static let shapes: [Shape] = [
        Shape(name: "transport stream"),
        Shape(name: "segments of two seconds", arguments: "-hls_time 2"),
        Shape(name: "one segment", arguments: "-hls_time 9"),
        Shape(name: "segments of 0.4 s", source: "\(video) -g 10 -bf 2 -c:a aac", arguments: "-hls_time 0.4"),
        Shape(name: "segments cut between keyframes", arguments: "-hls_time 0.7 -hls_flags split_by_time"),
        Shape(name: "fragmented MP4", arguments: "-hls_segment_type fmp4"),
        Shape(name: "fragmented MP4, two seconds", arguments: "-hls_time 2 -hls_segment_type fmp4"),
        Shape(name: "byte ranges", arguments: "-hls_flags single_file"),
        Shape(name: "byte ranges of fragmented MP4", arguments: "-hls_flags single_file -hls_segment_type fmp4"),
        Shape(name: "no B-frames", source: "\(video) -g 25 -bf 0 -c:a aac"),
        Shape(
            name: "no B-frames, fragmented MP4", source: "\(video) -g 25 -bf 0 -c:a aac",
            arguments: "-hls_segment_type fmp4"),
        Shape(name: "no sound", source: "\(video) -g 25 -an"),
        Shape(name: "no sound, fragmented MP4", source: "\(video) -g 25 -an", arguments: "-hls_segment_type fmp4"),
        Shape(name: "open groups of pictures", source: "\(video) -g 25 -bf 2 -x264-params open-gop=1 -c:a aac"),
        Shape(name: "B-pyramid", source: "\(video) -g 25 -bf 4 -b-pyramid normal -c:a aac"),
        Shape(
            name: "HEVC",
            source: "-c:v libx265 -x265-params log-level=none:keyint=25:scenecut=0 -pix_fmt yuv420p -c:a aac"),
        Shape(
            name: "HEVC, fragmented MP4",
            source: "-c:v libx265 -x265-params log-level=none:keyint=25:scenecut=0 -pix_fmt yuv420p -c:a aac",
            arguments: "-hls_segment_type fmp4"),
        Shape(name: "AC-3", source: "\(video) -g 25 -bf 2 -c:a ac3"),
        Shape(name: "MP3", source: "\(video) -g 25 -bf 2 -c:a libmp3lame"),
        Shape(name: "times near the end of the 33 bits", arguments: "-output_ts_offset 95440"),
        Shape(name: "times of days, fragmented MP4", arguments: "-output_ts_offset 300000 -hls_segment_type fmp4"),
        Shape(name: "events", arguments: "-hls_playlist_type event"),
        Shape(name: "dates and independent segments", arguments: "-hls_flags program_date_time+independent_segments"),
        Shape(name: "late sequence numbers", arguments: "-start_number 4000000000"),
    ]

    @Test(arguments: shapes) func `A stream becomes a movie with the same frames`(shape: Shape) async throws {
        let bench = try HLSBench()
        let source = try HLSStream.source(shape.source)
        let playlist = try bench.stream.cut(of: source, input: shape.input, shape.arguments)
        let manifest = try await bench.prepare()
        #expect(manifest.outcome == .converted, "\(manifest.reasons)")
        let frames = try bench.frames(manifest)
        expectFrames(frames, Array(0..<125))
        // The independent judge: ffmpeg, reading the playlist.
        #expect(try NumberedFrame.all(of: playlist).map(\.number) == frames.map(\.number))
        let taken = try #require(manifest.source.playlist)
        #expect(!taken.live && taken.bandwidth == nil && abs(taken.seconds - 5) < 0.1)
        #expect(manifest.source.mimeType == "application/vnd.apple.mpegurl")
        await bench.shutdown()
    }

    @Test(arguments: [(0.96, 24), (0.999, 24), (1.0, 25), (1.04, 26), (2.999, 74), (3, 75)])
    func `The thumbnail shows the exact frame at a time across a border`(seconds: Double, number: Int) async throws {
        let bench = try HLSBench()
        try bench.stream.cut()
        let manifest = try await bench.prepare { $0.options.thumbnailTime = .at(seconds) }
        let thumbnail = try #require(manifest.thumbnail)
        #expect(thumbnail.time.map { Int(($0 * 25).rounded()) } == number)
        await bench.shutdown()
    }

    @Test func `Servers without ranges send the whole file`() async throws {
        let bench = try HLSBench()
        try bench.stream.cut(of: nil, "-hls_flags single_file")
        let manifest = try await bench.prepare(hasRanges: false)
        expectFrames(try bench.frames(manifest), Array(0..<125))
        await bench.shutdown()
    }

    @Test func `Audio alone becomes an audio file`() async throws {
        let bench = try HLSBench()
        try bench.stream.cut(of: try GeneratedMedia.numbered("sound.mkv", "-vn -c:a aac"))
        let manifest = try await bench.prepare()
        #expect(manifest.attachment?.kind == .audio, "\(manifest.reasons)")
        #expect(abs((manifest.attachment?.duration ?? 0) - 5) < 0.2)
        await bench.shutdown()
    }

    @Test func `Packed AAC becomes an audio file`() async throws {
        let bench = try HLSBench()
        let source = try GeneratedMedia.numbered("sound.mkv", "-vn -c:a aac")
        try GeneratedMedia.run(
            "ffmpeg",
            ["-v", "error", "-i", source.path, "-c", "copy", "-f", "segment", "-segment_time", "1"]
                + ["-segment_format", "adts", bench.stream.folder.path("%d.aac")])
        let names = try bench.stream.folder.contents().filter { $0.hasSuffix("aac") }
        let entries = names.map { "#EXTINF:1,\n\($0)\n" }.joined()
        try bench.stream.write("#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(entries)#EXT-X-ENDLIST\n")
        let manifest = try await bench.prepare()
        #expect(manifest.attachment?.kind == .audio, "\(manifest.reasons)")
        #expect(abs((manifest.attachment?.duration ?? 0) - 5) < 0.2)
        await bench.shutdown()
    }

    @Test func `Video that iOS does not show is encoded`() async throws {
        let bench = try HLSBench()
        try bench.stream.cut(of: try HLSStream.source("-c:v mpeg2video -q:v 2 -g 25 -bf 0 -c:a mp2"))
        let manifest = try await bench.prepare()
        #expect(manifest.outcome == .converted, "\(manifest.reasons)")
        #expect(try bench.frames(manifest).map(\.number) == Array(0..<125))
        await bench.shutdown()
    }
}
