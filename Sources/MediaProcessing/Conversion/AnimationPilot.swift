import LibAV
import RichPush
import SafeArithmetic

/// One reading of an animation before it is encoded: its times, and what a few runs of its pictures take.
struct AnimationPilot {
    /// Pictures in a run, and runs at most.
    private static let framesPerRun = 10
    private static let runsMax = 6
    /// Part of the time there is that reading may take; what was not read is taken to be like the rest.
    private static let timeShare = 0.3
    private static let quality = 24.0

    /// Seconds at which each picture begins, and one more: the end.
    private(set) var times: [Double] = [0]
    private(set) var colours = VideoColours.bt709
    private(set) var curve = RateCurve(bytes: 0, at: quality)
    private(set) var secondsPerFrame = 0.0
    private(set) var secondsPerMegapixel = 0.0
    private var runs: [(bytes: Double, worse: Double)] = []
    private var encodingSeconds = 0.0
    private var framesEncoded = 0

    /// Seconds of all of it.
    var duration: Double { times.last ?? 0 }
    // Bounded throughout: floating point.
    var frameRate: Double { Double(times.count - 1) / max(0.01, duration) }

    // Bounded throughout: counts of pictures, `Limits.animationFramesMax` at most; the rest is floating point.
    static func fly(_ frames: any FrameSequence, shape: MovieShape, clock: WorkClock) throws -> AnimationPilot {
        var pilot = AnimationPilot()
        let start = clock.secondsSpent
        let limit = clock.secondsLeft * timeShare
        let distance = max(framesPerRun, frames.count / runsMax)
        var run: [(frame: Frame, time: Double)] = []
        var shaper: FrameShaper?
        var decoded = 0
        while clock.secondsSpent - start < limit || decoded < 2, let next = try frames.next() {
            try checkDeadline(clock.deadline)
            let place = decoded % distance
            if place < framesPerRun {
                let frame = try readingMedia {
                    try Frame.picture(width: frames.width, height: frames.height, rgba: next.pixels)
                }
                let open =
                    try shaper
                    ?? FrameShaper(
                        like: frame, shape: shape, orientation: .upright, transfer: .standard)
                shaper = open
                run.append((try open.apply(frame), pilot.duration))
            }
            decoded += 1
            pilot.times.append(pilot.duration + Double(next.delayMilliseconds) / 1_000)
            if run.count == framesPerRun || place == distance - 1 { try pilot.encode(&run, shape, clock) }
        }
        guard let shaper else { throw AttachPrepError(.mediaCorrupt, "The animation has no picture that decodes.") }
        try pilot.encode(&run, shape, clock)
        pilot.conclude(
            count: max(decoded, frames.count), decoded: decoded, seconds: clock.secondsSpent - start, shape: shape)
        pilot.colours = shaper.colours
        return pilot
    }

    // Bounded throughout: a run has `framesPerRun` pictures at most; the rest is floating point.
    private mutating func encode(
        _ run: inout [(frame: Frame, time: Double)], _ shape: MovieShape, _ clock: WorkClock
    ) throws {
        if run.isEmpty { return }
        var settings = VideoEncoderSettings(
            width: shape.width, height: shape.height, frameRate: 25, preset: MoviePilot.trialPreset,
            quality: Self.quality, colours: colours)
        let start = clock.secondsSpent
        let bytes = try MoviePilot.bytesPerFrame(run, settings)
        settings.quality += MoviePilot.qualityDistance
        runs.append((bytes, try MoviePilot.bytesPerFrame(run, settings)))
        encodingSeconds += clock.secondsSpent - start
        framesEncoded += run.count * 2
        run = []
    }

    // Bounded throughout: floating point.
    private mutating func conclude(count: Int, decoded: Int, seconds: Double, shape: MovieShape) {
        let delay = duration / Double(max(1, decoded))
        while times.count <= count { times.append(duration + delay) }
        secondsPerFrame = max(0, seconds - encodingSeconds) / Double(max(1, decoded))
        secondsPerMegapixel = encodingSeconds / Double(max(1, framesEncoded)) / shape.megapixels
        let mean = runs.map(\.bytes).reduce(0, +) / Double(max(1, runs.count))
        let worse = runs.map(\.worse).reduce(0, +) / Double(max(1, runs.count))
        let steps = RateCurve((0, mean), (MoviePilot.qualityDistance, worse)).steps
        curve = RateCurve(bytes: mean * Double(count), at: Self.quality, steps: steps)
    }
}
