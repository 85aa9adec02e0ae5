import Foundation
import TestSupport
import Testing

/// `--thumbnail-time` of movies, checked by the number that is drawn into every frame.
@Suite(.timeLimit(.minutes(2))) struct MovieThumbnailTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    private func frameNumber(_ manifest: PrintedManifest) async throws -> Int {
        SampleMotif.frameNumber(in: try await bench.thumbnail(manifest))
    }

    /// Times and the frames displayed at them, at 25 frames per second.
    static let moments = [(0.0, 0), (0.039, 0), (0.04, 1), (1.48, 37), (1.5, 37), (1.52, 38), (1.96, 49)]

    /// The frames of these two movies do not begin at 0; ffprobe supplies their times.
    @Test(arguments: ["clock.avi", "clock.mpg"])
    func `Thumbnail times are relative to the beginning of a movie's first stream`(name: String) async throws {
        let times = try await Self.frameTimes(SourceTree.sample(name))
        #expect(times.count == 100)
        for frame in [0, 1, 36, 60, 99] {
            let manifest = try await bench.prepare(
                CommandBench.url(name), "--thumbnail-time", "\(times[frame] + 0.001)")
            #expect(try await frameNumber(manifest) == frame, "at \(times[frame]) s")
        }
    }

    @Test(arguments: ["clock.mp4", "hevc.mp4", "anamorphic.mp4", "portrait.mp4", "clock.m2v"])
    func `The thumbnail is the last frame that begins at or before the requested time`(name: String) async throws {
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
    func `A time past the end selects the last frame, with its time and a warning`(
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
    func `Without a time, the thumbnail is at half the duration, and options have no time`(name: String) async throws {
        let manifest = try await PreparedSamples.manifest(name)
        let thumbnail = try await PreparedSamples.bench.thumbnail(manifest)
        #expect(SampleMotif.frameNumber(in: thumbnail) == 50)
        #expect(manifest.thumbnail?.time == 2)
        #expect(manifest.options?.movieTime == nil)
    }

    @Test(arguments: [("0", 0), ("1.5", 900), ("0.001", 1), ("1.48", 888), ("1.1", 660)])
    func `The time in the options is in 600ths of a second, rounded up`(time: String, ticks: Int) async throws {
        let manifest = try await bench.prepare(CommandBench.url("clock.mp4"), "--thumbnail-time", time)
        #expect(manifest.options?.movieTime == .init(value: ticks, timescale: 600, epoch: 0, flags: 1))
    }

    @Test(arguments: ["-1", "nan", "inf"])
    func `A negative or infinite time, or NaN, is options.invalid_time`(time: String) async throws {
        try await bench.expectRejection(
            "options.invalid_time", of: CommandBench.url("clock.mp4"), "--thumbnail-time=\(time)")
    }

    @Test(arguments: ["0x10", "10x0", "5000x10", "-3x10"])
    func `A size that is not positive or too large is options.invalid_size`(size: String) async throws {
        try await bench.expectRejection(
            "options.invalid_size", of: CommandBench.url("clock.mp4"), "--thumbnail-size=\(size)")
    }

    /// Presentation times of a movie's frames, in seconds from the movie's beginning.
    private static func frameTimes(_ path: String) async throws -> [Double] {
        let arguments =
            "-v error -select_streams v -show_entries format=start_time:frame=best_effort_timestamp_time -of csv"
        let result = try await RunCommand("ffprobe", arguments.split(separator: " ").map(String.init) + [path]).run()
        let rows = result.lines.map { $0.split(separator: ",") }
        let numbers = { (kind: String) in rows.filter { $0.first == kind[...] }.compactMap { Double($0[1]) } }
        let start = try #require(numbers("format").first)
        return numbers("frame").map { $0 - start }
    }
}
