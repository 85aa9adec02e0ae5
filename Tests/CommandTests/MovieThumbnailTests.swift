import Foundation
import TestSupport
import Testing

/// `--thumbnail-time`, proved by the number that is burnt into every frame.
@Suite(.timeLimit(.minutes(2))) struct MovieThumbnailTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func frameNumber(_ manifest: PrintedManifest) async throws -> Int {
        SampleMotif.frameNumber(in: try await bench.thumbnail(manifest))
    }

    /// Times and the frames that are shown then, at 25 frames a second.
    static let moments = [(0.0, 0), (0.039, 0), (0.04, 1), (1.48, 37), (1.5, 37), (1.52, 38), (1.96, 49)]

    /// Frames of these two do not begin at 0: another program says when they do.
    @Test(arguments: ["clock.avi", "clock.mpg"])
    func `A movie's own times are followed, from the beginning of its first stream`(name: String) async throws {
        let times = try await Self.frameTimes(SourceTree.sample(name))
        #expect(times.count == 100)
        for frame in [0, 1, 36, 60, 99] {
            let manifest = try await bench.prepare(
                CommandBench.url(name), "--thumbnail-time", "\(times[frame] + 0.001)")
            #expect(try await frameNumber(manifest) == frame, "at \(times[frame]) s")
        }
    }

    @Test(arguments: ["clock.mp4", "hevc.mp4", "anamorphic.mp4", "portrait.mp4", "clock.m2v"])
    func `The frame shown at a time is the last one that began by then`(name: String) async throws {
        let url = try CommandBench.url(name)
        let lines = Self.moments.enumerated().map { number, moment in
            #"{"source": "\#(url)", "id": "at-\#(number)", "options": {"thumbnailTime": \#(moment.0)}}"#
        }
        let result = try await bench.batch(lines)
        for (number, moment) in Self.moments.enumerated() {
            let manifest = try #require(result.manifests["at-\(number)"], "\(result.errorText)")
            #expect(try await frameNumber(manifest) == moment.1, "at \(moment.0) s")
            #expect(manifest.warningCodes.filter { $0 != "video.rotated" } == [])
        }
    }

    @Test(arguments: [("clock.mp4", 99, 3.96), ("hevc.mp4", 99, 3.96), ("clock.m2v", 49, 1.96)])
    func `A time past the end takes the last frame, emits its time and warns`(
        name: String, frame: Int, time: Double
    ) async throws {
        let manifest = try await bench.prepare(CommandBench.url(name), "--thumbnail-time", "99")
        #expect(try await frameNumber(manifest) == frame)
        #expect(manifest.warningCodes == ["time.past_end"])
        #expect(manifest.thumbnail?.time == time)
        let ticks = Int((time * 600).rounded())
        #expect(manifest.options?.movieTime == .init(value: ticks, timescale: 600, epoch: 0, flags: 1))
    }

    @Test(arguments: ["clock.mp4", "hevc.mp4", "anamorphic.mp4", "portrait.mp4"])
    func `Without a time the thumbnail shows half the duration, and no time is emitted`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect(SampleMotif.frameNumber(in: thumbnail) == 50)
        #expect(manifest.thumbnail?.time == 2)
        #expect(manifest.options?.movieTime == nil)
    }

    @Test(arguments: [("0", 0), ("1.5", 900), ("0.001", 1), ("1.48", 888), ("1.1", 660)])
    func `A movie's time is emitted in 600ths of a second, rounded up`(time: String, ticks: Int) async throws {
        let manifest = try await bench.prepare(CommandBench.url("clock.mp4"), "--thumbnail-time", time)
        #expect(manifest.options?.movieTime == .init(value: ticks, timescale: 600, epoch: 0, flags: 1))
    }

    @Test(arguments: ["-1", "nan", "inf"])
    func `A time that is none is options.invalid_time`(time: String) async throws {
        try await bench.expectRejection(
            "options.invalid_time", of: CommandBench.url("clock.mp4"), "--thumbnail-time=\(time)")
    }

    @Test(arguments: ["0x10", "10x0", "5000x10", "-3x10"])
    func `A size that is none is options.invalid_size`(size: String) async throws {
        try await bench.expectRejection(
            "options.invalid_size", of: CommandBench.url("clock.mp4"), "--thumbnail-size=\(size)")
    }

    /// Presentation times of a movie's frames, in seconds from the movie's beginning.
    private static func frameTimes(_ path: String) async throws -> [Double] {
        let words =
            "-v error -select_streams v -show_entries format=start_time:frame=best_effort_timestamp_time -of csv"
        let result = try await RunCommand("ffprobe", words.split(separator: " ").map(String.init) + [path]).run()
        let rows = result.lines.map { $0.split(separator: ",") }
        let numbers = { (kind: String) in rows.filter { $0.first == kind[...] }.compactMap { Double($0[1]) } }
        let start = try #require(numbers("format").first)
        return numbers("frame").map { $0 - start }
    }
}
