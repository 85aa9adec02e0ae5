import MediaLibraries
import MediaTypes
import Testing

@testable import MediaProcessing

@Suite struct MovieLadderTests {
    /// 20 s of 1080p30 that take 20 MB at a rate factor of 23, on a machine that is fast enough.
    private static func estimate(_ change: (inout EncodeEstimate) -> Void = { _ in }) -> EncodeEstimate {
        var estimate = EncodeEstimate(
            shape: MovieShape(width: 1920, height: 1080), frameRate: 30, frameRateMax: 60, duration: 20,
            curve: RateCurve(bytes: 20e6, at: 23), trialShape: MovieShape(width: 1920, height: 1080),
            trialPreset: .veryfast, secondsPerFrame: 0.004, secondsPerMegapixel: 0.004, bytesMax: 50e6,
            qualityBest: Limits.movieQuality, secondsLeft: 100)
        change(&estimate)
        return estimate
    }

    private func choose(_ change: (inout EncodeEstimate) -> Void = { _ in }) -> MovieChoice {
        MovieLadder(estimate: Self.estimate(change)).choice
    }

    @Test
    func `Nothing is reduced when size and time suffice`() {
        let choice = choose()
        #expect(choice.shape.text == "1920 x 1080")
        #expect(choice.frameRateMax == nil)
        #expect(choice.cut == nil)
        #expect(choice.quality == Limits.movieQuality)
        #expect(!choice.isForcedByTime)
    }

    @Test(arguments: [(20e6, 1080), (8e6, 1080), (3e6, 720), (1e6, 360), (0.4e6, 240)])
    func `Quality is reduced first, then resolution`(bytes: Double, side: Int) {
        let choice = choose { $0.bytesMax = bytes }
        #expect(choice.cut == nil)
        #expect(choice.shape.shortSide <= side)
        #expect(choice.quality <= Limits.movieQualityFloor)
    }

    @Test
    func `A smaller limit gives a smaller resolution`() {
        let sizes = [50e6, 20e6, 8e6, 4e6, 2e6, 1e6, 5e5, 2e5].map { bytes in
            choose { $0.bytesMax = bytes }.shape.pixels
        }
        #expect(sizes == sizes.sorted(by: >))
    }

    @Test
    func `The frame rate is reduced only at a small resolution`() {
        let choice = choose { $0.bytesMax = 150_000 }
        #expect(choice.shape.shortSide <= 360)
        #expect(choice.frameRateMax == Limits.movieFrameRateFloor)
        #expect(choice.cut == nil)
    }

    @Test
    func `The duration is cut last`() throws {
        let choice = choose { $0.bytesMax = 20_000 }
        #expect(choice.shape.shortSide == Limits.movieShortSidePixelsFloor)
        #expect(choice.frameRateMax == Limits.movieFrameRateFloor)
        let cut = try #require(choice.cut)
        #expect(cut > 0 && cut < 20)
    }

    @Test
    func `More time gives a slower preset`() {
        let presets = [400.0, 60, 30, 15, 10].map { seconds in
            choose {
                $0.bytesMax = 10e6
                $0.secondsLeft = seconds
            }.preset
        }
        #expect(presets == presets.sorted(by: >))
        #expect(presets.first == .slow)
        #expect(presets.last.map { $0 < .fast } == true)
    }

    @Test(arguments: [8.0, 5, 3, 1.5, 0.7])
    func `The predicted encoding time does not exceed the time left`(seconds: Double) {
        let estimate = Self.estimate { $0.secondsLeft = seconds }
        let ladder = MovieLadder(estimate: estimate)
        #expect(ladder.seconds(ladder.choice) <= seconds)
    }

    @Test
    func `When time is short the resolution is reduced first, then frames are skipped`() {
        let smaller = choose { $0.secondsLeft = 4.2 }
        #expect(smaller.isForcedByTime)
        #expect(smaller.shape.pixels < 1920 * 1080)
        #expect(smaller.skipping == .none)
        #expect(choose { $0.secondsLeft = 2.2 }.skipping == .nonReference)
        #expect(choose { $0.secondsLeft = 0.7 }.skipping == .keyframesOnly)
    }

    @Test
    func `The plan never cuts the duration for lack of time`() {
        #expect(choose { $0.secondsLeft = 0.01 }.cut == nil)
    }

    @Test
    func `The frame rate never exceeds its maximum`() {
        #expect(choose { $0.frameRate = 120 }.frameRateMax == 60)
    }
}

@Suite struct MovieShapeTests {
    @Test(arguments: [
        (1920.0, 1080.0, 1280, 720, "1280 x 720"), (1080, 1920, 1280, 720, "720 x 1280"),
        (640, 480, 1280, 720, "640 x 480"),
        (321, 241, 1280, 720, "320 x 240"), (1, 1, 1280, 720, "2 x 2"), (1440, 1080, 1280, 720, "960 x 720"),
    ])
    func `A shape fits its box with even sides`(width: Double, height: Double, long: Int, short: Int, text: String) {
        #expect(MovieShape(width: width, height: height, longSideMax: long, shortSideMax: short).text == text)
    }
}

@Suite struct RateControllerTests {
    /// Encodes a movie in parts, each with its number of bytes at a rate factor of 0.
    private func run(_ parts: [Double], budget: Double, guess: Double) -> (bytes: Double, qualities: [Double]) {
        var rateController = RateController(targetBytes: budget, best: 16, curve: RateCurve(bytes: guess, at: 0))
        var (spent, qualities): (Double, [Double]) = (0, [rateController.quality])
        for (index, part) in parts.enumerated() {
            let bytes = RateCurve(bytes: part, at: 0).bytes(at: rateController.quality)
            spent += bytes
            _ = rateController.record(bytes: Int(bytes), share: Double(index + 1) / Double(parts.count))
            qualities.append(rateController.quality)
        }
        return (spent, qualities)
    }

    @Test(arguments: [0.3, 0.6, 1, 1.6, 3])
    func `The total is close to the budget whatever the trial encode predicted`(error: Double) {
        let parts = [Double](repeating: 1e7, count: 100)
        let result = run(parts, budget: 4e7, guess: 1e9 * error)
        #expect(result.bytes > 3.6e7 && result.bytes < 4.1e7, "\(result.bytes)")
    }

    @Test
    func `The quality stays constant when sizes are as predicted`() {
        let result = run([Double](repeating: 1e7, count: 100), budget: 4e7, guess: 1e9)
        #expect((result.qualities.max() ?? 0) - (result.qualities.min() ?? 0) < 0.5)
    }

    @Test
    func `Bytes are left unused once the best quality is reached`() {
        let result = run([Double](repeating: 1e4, count: 100), budget: 4e7, guess: 1e6)
        #expect(result.qualities.allSatisfy { $0 == 16 })
        #expect(result.bytes < 4e6)
    }
}

@Suite struct FrameRateLimiterTests {
    private func kept(_ rate: Double, max: Double) -> Int {
        var rateLimiter = FrameRateLimiter(frameRateMax: max)
        return (0..<Int(rate * 10)).count { rateLimiter.keeps(Double($0) / rate) }
    }

    @Test(arguments: [(60.0, 30.0, 300), (50, 30, 300), (120, 60, 600), (30, 30, 300), (25, 30, 250), (24, 15, 150)])
    func `As many frames are kept as the maximum rate allows`(rate: Double, max: Double, count: Int) {
        #expect(abs(kept(rate, max: max) - count) <= 1)
    }

    @Test
    func `Jitter of frame times drops no frame`() {
        var rateLimiter = FrameRateLimiter(frameRateMax: 30)
        let times = (0..<300).map { Double($0) / 30 + ($0 % 3 == 0 ? 0.004 : -0.003) }
        #expect(times.count { rateLimiter.keeps($0) } == 300)
    }
}
