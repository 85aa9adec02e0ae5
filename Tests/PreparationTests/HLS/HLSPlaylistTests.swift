import AttachPrep
import AttachPrepModel
import Foundation
import RichPush
import TestSupport
import Testing

/// Keys, discontinuities, live streams, clips and variants, with exact frames.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HLSPlaylistTests {
    private static let key = "00112233445566778899aabbccddeeff"

    /// Cuts the stream and encrypts its segments as a server would.
    ///
    /// - Parameter vector: Nil for the media sequence number.
    private func encrypted(_ bench: HLSBench, _ arguments: String = "", vector: String?) throws {
        try bench.stream.cut(of: nil, arguments)
        let files = try bench.stream.entries("list").map { String($0.split(separator: "\n").last ?? "") }
        let first = arguments.contains("start_number") ? 1_000 : 0
        try bench.stream.encrypt(files, key: Self.key) { number in
            vector ?? String(repeating: "0", count: 24) + String(format: "%08x", first + number)
        }
        try bench.stream.folder.write((0..<16).map { UInt8($0 * 17) }, to: "key")
        let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"" + (vector.map { ",IV=0x\($0)" } ?? "")
        try bench.stream.edit { $0.replacing("#EXT-X-PLAYLIST-TYPE:VOD", with: tag) }
    }

    @Test(
        arguments: [
            ("", "0123456789abcdef0123456789abcdef"), ("", nil), ("-start_number 1000", nil),
            ("-hls_segment_type fmp4", "0123456789abcdef0123456789abcdef"), ("-hls_segment_type fmp4", nil),
        ] as [(String, String?)])
    func `AES-128 with a vector or the sequence number`(arguments: String, vector: String?) async throws {
        let bench = try HLSBench()
        try encrypted(bench, arguments, vector: vector)
        if arguments.contains("fmp4"), vector != nil {
            // The key follows the initialization section, which is not encrypted.
            try bench.stream.edit { text in
                let key = text.split(separator: "\n").first { $0.hasPrefix("#EXT-X-KEY") } ?? ""
                let map = text.split(separator: "\n").first { $0.hasPrefix("#EXT-X-MAP") } ?? ""
                return text.replacing("\(key)\n", with: "").replacing(map, with: "\(map)\n\(key)")
            }
        }
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<125))
        #expect(bench.server.requests(to: "/key").count == 1)
        await bench.shutdown()
    }

    @Test func `A key in front of an initialization section encrypts it, too`() async throws {
        let bench = try HLSBench()
        let vector = "0123456789abcdef0123456789abcdef"
        try encrypted(bench, "-hls_segment_type fmp4", vector: vector)
        try bench.stream.encrypt(["list-init.mp4"], key: Self.key) { _ in vector }
        expectFrames(try bench.frames(try await bench.prepare()), Array(0..<125))
        await bench.shutdown()
    }

    // MARK: Discontinuities

    /// A part of a playlist: the first seconds of a movie, whose timestamps start at 0 again.
    private struct Part {
        var source = HLSStream.standard
        var seconds = 5
    }

    /// Streams of 5 s, of which each part has the first seconds, in one playlist.
    private func spliced(
        _ bench: HLSBench, _ arguments: String = "", of parts: [Part], isLive: Bool = false
    ) throws {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2"]
        for (number, part) in parts.enumerated() {
            let name = "part\(number)-"
            try bench.stream.cut(name, of: try HLSStream.source(part.source), arguments)
            if number > 0 { lines.append("#EXT-X-DISCONTINUITY") }
            let map = try bench.stream.text(name).split(separator: "\n").first { $0.hasPrefix("#EXT-X-MAP") }
            if let map { lines.append(String(map)) }
            lines += try bench.stream.entries(name).prefix(part.seconds)
        }
        if !isLive { lines.append("#EXT-X-ENDLIST") }
        try bench.stream.write(lines.joined(separator: "\n") + "\n")
    }

    /// A quarter of the pixels.
    private static let small = "-vf scale=160:120 \(HLSStream.standard)"

    @Test(arguments: ["", "-hls_segment_type fmp4", "-hls_flags single_file", "-output_ts_offset 77"])
    func `After a discontinuity the frames continue`(arguments: String) async throws {
        let bench = try HLSBench()
        try spliced(bench, arguments, of: [Part(), Part()])
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<125) + Array(0..<125))
        #expect(abs((manifest.source.playlist?.seconds ?? 0) - 10) < 0.1)
        await bench.shutdown()
    }

    @Test(
        arguments: [
            (small, "h264 160 x 120"),
            (
                "-c:v libx265 -x265-params log-level=none:keyint=25:scenecut=0:open-gop=0 -pix_fmt yuv420p -c:a aac",
                "hevc 320 x 240"
            ),
            ("-c:v mpeg2video -q:v 2 -g 25 -bf 0 -c:a mp2", "mpeg2video 320 x 240"),
        ])
    func `Segments of another size or codec are left out, and a warning says how many seconds of which format`(
        other: String, format: String
    ) async throws {
        let bench = try HLSBench()
        try spliced(bench, of: [Part(), Part(source: other, seconds: 2)])
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<125))
        #expect(manifest.warnings.map(\.code) == [.mediaCut])
        #expect(
            manifest.warnings.first?.message
                == "2.0 s beside a discontinuity were left out: they are \(format), the rest is h264 320 x 240, and "
                + "segments are joined without encoding.")
        #expect(manifest.reasons.first?.hasSuffix(" s, without 2.0 s of another format.") == true)
        await bench.shutdown()
    }

    @Test(arguments: ["", "-hls_segment_type fmp4"])
    func `An advertisement of another size before the movie is left out`(arguments: String) async throws {
        let bench = try HLSBench()
        try spliced(bench, arguments, of: [Part(source: Self.small, seconds: 2), Part()])
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<125))
        #expect(manifest.warnings.count == 1)
        await bench.shutdown()
    }

    @Test(arguments: ["", "-hls_segment_type fmp4"])
    func `After an advertisement of another size the movie continues with its next frame`(
        arguments: String
    ) async throws {
        let bench = try HLSBench()
        try spliced(bench, arguments, of: [Part(seconds: 3), Part(source: Self.small, seconds: 4), Part()])
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<75) + Array(0..<125))
        #expect(abs((manifest.source.playlist?.seconds ?? 0) - 8) < 0.1)
        #expect(manifest.warnings.map(\.message).first?.hasPrefix("4.0 s ") == true)
        await bench.shutdown()
    }

    @Test func `Of a live stream whose size has changed, the seconds since then are taken`() async throws {
        let bench = try HLSBench()
        try spliced(bench, of: [Part(), Part(source: Self.small, seconds: 2)], isLive: true)
        let manifest = try await bench.prepare { $0.clipSeconds = 5 }
        let frames = try NumberedFrame.all(of: bench.path(manifest), width: 160, height: 120)
        expectFrames(frames, Array(0..<50))
        #expect(manifest.warnings.map(\.message).first?.hasPrefix("3.0 s ") == true)
        await bench.shutdown()
    }

    /// First and last time of the audio packets, in seconds.
    private func audioTimes(_ bench: HLSBench, _ manifest: Manifest) throws -> (first: Double, last: Double) {
        let output = try GeneratedMedia.run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "a:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0",
                try bench.path(manifest),
            ])
        let times = String(decoding: output, as: UTF8.self).split { $0 == "\n" || $0 == "," }.compactMap { Double($0) }
        return (try #require(times.min()), try #require(times.max()))
    }

    @Test func `Audio of another sample rate is left out, the video continues`() async throws {
        let bench = try HLSBench()
        try spliced(bench, of: [Part(), Part(source: "\(HLSStream.standard) -ar 22050")])
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<125) + Array(0..<125))
        let times = try audioTimes(bench, manifest)
        #expect(times.first < 0.1 && times.last < 5.1, "\(times)")
        let message = try #require(manifest.warnings.first?.message)
        #expect(message.hasPrefix("5.0 s have no audio") && message.contains("22050 Hz"), "\(message)")
        await bench.shutdown()
    }

    @Test func `Audio that begins after a discontinuity is kept`() async throws {
        let bench = try HLSBench()
        try spliced(bench, of: [Part(source: "\(HLSStream.standard) -an", seconds: 2), Part()])
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<50) + Array(0..<125))
        let times = try audioTimes(bench, manifest)
        #expect(abs(times.first - 2) < 0.1 && times.last > 6.8, "\(times)")
        #expect(manifest.warnings.isEmpty, "\(manifest.warnings)")
        await bench.shutdown()
    }

    // MARK: Live streams and clips

    /// Leaves the last segments of a stream that has not ended.
    private func live(_ bench: HLSBench, _ arguments: String = "", window: Int? = nil) throws {
        try bench.stream.cut(of: nil, arguments)
        try bench.stream.edit { text in
            var lines = text.replacing("#EXT-X-ENDLIST", with: "").replacing("#EXT-X-PLAYLIST-TYPE:VOD\n", with: "")
                .split(separator: "\n").map(String.init)
            guard let window else { return lines.joined(separator: "\n") }
            let count = lines.count { !$0.hasPrefix("#") }
            let first = lines.indices.filter { lines[$0].hasPrefix("#EXTINF") }[count - window]
            let start = lines.firstIndex { $0.hasPrefix("#EXTINF") } ?? 0
            lines.removeSubrange(start..<first)
            return lines.joined(separator: "\n")
                .replacing("#EXT-X-MEDIA-SEQUENCE:0", with: "#EXT-X-MEDIA-SEQUENCE:\(count - window)")
        }
    }

    @Test(arguments: [("", 2.0, 75), ("", 1.5, 75), ("-hls_segment_type fmp4", 2, 75), ("", 5, 0), ("", 300, 0)])
    func `A live stream gives its last seconds`(arguments: String, seconds: Double, first: Int) async throws {
        let bench = try HLSBench()
        try live(bench, arguments)
        let manifest = try await bench.prepare { $0.clipSeconds = seconds }
        expectFrames(try bench.frames(manifest), Array(first..<125))
        #expect(manifest.source.playlist?.live == true)
        await bench.shutdown()
    }

    @Test func `Only the segments of the clip are requested`() async throws {
        let bench = try HLSBench()
        try live(bench)
        _ = try await bench.prepare { $0.clipSeconds = 2 }
        #expect(bench.server.requests.map(\.path) == ["/list.m3u8", "/list3.ts", "/list4.ts"])
        await bench.shutdown()
    }

    @Test(arguments: ["", "-hls_segment_type fmp4"])
    func `A window of a live stream begins at zero`(arguments: String) async throws {
        let bench = try HLSBench()
        try live(bench, arguments, window: 3)
        expectFrames(try bench.frames(try await bench.prepare()), Array(50..<125))
        await bench.shutdown()
    }

    @Test func `A live clip begins at the keyframe before it, within a segment`() async throws {
        let bench = try HLSBench()
        try live(bench, "-hls_time 5")
        expectFrames(try bench.frames(try await bench.prepare { $0.clipSeconds = 2 }), Array(75..<125))
        await bench.shutdown()
    }

    @Test(arguments: ["", "-hls_segment_type fmp4"])
    func `A finished stream gives its first seconds`(arguments: String) async throws {
        let bench = try HLSBench()
        try bench.stream.cut(of: nil, arguments)
        let manifest = try await bench.prepare { $0.clipSeconds = 2 }
        let frames = try bench.frames(manifest)
        expectFrames(frames.filter { $0.number < 48 }, Array(0..<48))
        #expect(abs((manifest.attachment?.duration ?? 0) - 2) < 0.15)
        #expect(!bench.server.requests.contains { $0.path == "/list3.ts" })
        await bench.shutdown()
    }

    // MARK: Variants

    /// A master playlist with three variants.
    private func master(_ bench: HLSBench) throws {
        for (name, rate) in [("high", "-crf 20"), ("low", "-crf 40 -vf scale=160:120"), ("middle", "-crf 30")] {
            try bench.stream.cut(name, of: try HLSStream.source("\(HLSStream.standard) \(rate)"))
        }
        let codecs = "CODECS=\"avc1.64000d,mp4a.40.2\""
        try bench.stream.write(
            """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=320x240,\(codecs)
            high.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=200000,RESOLUTION=160x120,\(codecs)
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=320x240,\(codecs)
            middle.m3u8
            """)
    }

    @Test func `With a network, the best variant is taken that a phone can fetch in time`() async throws {
        let bench = try HLSBench()
        try master(bench)
        let manifest = try await bench.prepare {
            ($0.network, $0.deviceBudgetSeconds, $0.clipSeconds) = (.profile(.threeG), 2, 5)
        }
        #expect(manifest.source.playlist?.bandwidth == 500_000)
        expectFrames(try bench.frames(manifest).prefix(124).map(\.self), Array(0..<124))
        #expect(!bench.server.requests.contains { $0.path.hasPrefix("/high") || $0.path.hasPrefix("/low") })
        await bench.shutdown()
    }

    @Test func `The smallest variant of three is taken`() async throws {
        let bench = try HLSBench()
        try master(bench)
        let manifest = try await bench.prepare()
        let frames = try NumberedFrame.all(of: bench.path(manifest), width: 160, height: 120)
        #expect(frames.map(\.number) == Array(0..<125))
        let taken = try #require(manifest.source.playlist)
        #expect(taken.bandwidth == 200_000 && taken.width == 160 && taken.height == 120)
        #expect(!bench.server.requests.contains { $0.path.hasPrefix("/high") || $0.path.hasPrefix("/middle") })
        await bench.shutdown()
    }

    @Test(arguments: ["low2.ts", "low.m3u8"])
    func `When a segment of a variant is missing, the clip is taken of the next one`(missing: String) async throws {
        let bench = try HLSBench()
        try master(bench)
        try FileManager.default.removeItem(atPath: bench.stream.folder.path(missing))
        let manifest = try await bench.prepare()
        expectFrames(try bench.frames(manifest), Array(0..<125))
        #expect(manifest.source.playlist?.bandwidth == 500_000)
        await bench.shutdown()
    }

    @Test func `Missing segments of all variants are an error after three of them`() async throws {
        let bench = try HLSBench()
        try master(bench)
        for name in ["high", "low", "middle"] {
            try FileManager.default.removeItem(atPath: bench.stream.folder.path("\(name)2.ts"))
        }
        let manifest = try await bench.prepare()
        #expect(manifest.error?.code == .sourceNotFound)
        #expect(bench.server.requests.count < 20)
        await bench.shutdown()
    }

    @Test(arguments: ["", "-hls_segment_type fmp4"])
    func `Separate audio is joined with the video`(arguments: String) async throws {
        let bench = try HLSBench()
        try bench.stream.cut("video", of: nil, "-an \(arguments)")
        try bench.stream.cut("audio", of: nil, "-vn \(arguments)")
        try bench.stream.write(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="en",DEFAULT=YES,URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="mp4a.40.2",AUDIO="a"
            audio.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=320x240,CODECS="avc1.64000d,mp4a.40.2",AUDIO="a"
            video.m3u8
            """)
        let manifest = try await bench.prepare()
        let path = try bench.path(manifest)
        expectFrames(try NumberedFrame.all(of: path), Array(0..<125))
        let audio = try GeneratedMedia.run(
            "ffprobe",
            [
                "-v", "error", "-select_streams", "a:0", "-show_entries", "stream=codec_name,duration", "-of",
                "csv=p=0", path,
            ])
        let words = String(decoding: audio, as: UTF8.self).split(whereSeparator: { ",\n".contains($0) })
        #expect(words.first == "aac" && abs((words.last.flatMap { Double($0) } ?? 0) - 5) < 0.1)
        await bench.shutdown()
    }

    @Test func `Addresses are relative to where a playlist was found`() async throws {
        let bench = try HLSBench()
        try bench.stream.cut()
        try bench.stream.serve(on: bench.server)
        let text = try bench.stream.text().replacing("list0.ts", with: "../list0.ts?a=1")
        for number in 0..<5 {
            let body = try Data(bench.stream.folder.bytes(of: "list\(number).ts"))
            bench.server.serve("/deep/list\(number).ts", .body(body))
        }
        bench.server.serve("/deep/list.m3u8", .body(Data(text.utf8)))
        bench.server.serve("/start", .redirect("/deep/list.m3u8"))
        let manifest = await bench.prepare(url: bench.server.url("/start"))
        expectFrames(try bench.frames(manifest), Array(0..<125))
        await bench.shutdown()
    }
}
