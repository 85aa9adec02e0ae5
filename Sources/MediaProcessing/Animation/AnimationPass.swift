import RichPush

/// One pass over an animation, written as a step says.
struct AnimationPass {
    let step: AnimationStep
    let bytesMax: Int
    /// Scale of the display size; the step's comes on top.
    let baseScale: Double
    let palette: GIFPalette?
    let clock: WorkClock

    /// What a pass came to.
    struct Result {
        /// The whole GIF; nil when it went over its bytes or its time before the end.
        var bytes: [UInt8]?
        /// What the whole has, or would have by the part that was written.
        var estimate = 0
        var width = 0
        var height = 0
        /// The frames that were written.
        var entries: [FrameTiming.Entry] = []
        /// Whether frames were left out because time ran short.
        var isHurried = false
        /// Frames written a second.
        var pace = 0.0
    }

    /// How a pass ends when it goes on too long.
    enum Haste {
        /// It gives up when it would not be through in time.
        case givesUp
        /// It leaves frames out, and what has been written is the result.
        case finishes
    }

    /// - Parameter delays: Of all frames, as devices show them.
    func run(_ frames: any FrameSequence, delays: [Int], haste: Haste) throws -> Result {
        let timing = FrameTiming(delays: delays, rate: step.rate)
        let resizer = FrameResizer(width: frames.width, height: frames.height, scale: baseScale * step.scale)
        var settings = step.settings
        settings.sharedPalette = palette
        var encoder = GIFEncoder(
            width: resizer.width, height: resizer.height, loopCount: frames.loopCount, settings: settings)
        var result = Result(width: resizer.width, height: resizer.height)
        let hurry = PassHurry(clock: clock, count: frames.count)
        var pending: [FrameTiming.Entry] = []
        var next = 0
        var number = 0
        while next < timing.entries.count, let frame = try frames.next() {
            defer { number += 1 }
            guard number == timing.entries[next].frame else { continue }
            let entry = timing.entries[next]
            next += 1
            let isSkipped = !pending.isEmpty && haste == .finishes && hurry.skips(number)
            if isSkipped {
                result.isHurried = true
                let last = pending.removeLast()
                pending.append(.init(frame: last.frame, hundredths: last.hundredths + entry.hundredths))
                encoder.extend(by: entry.hundredths)
                continue
            }
            encoder.add(try resizer.resized(frame.pixels), hundredths: entry.hundredths)
            pending.append(entry)
            if encoder.bytes.count > bytesMax || haste == .givesUp && hurry.isHopeless(number) {
                result.estimate = encoder.bytes.count * timing.entries.count / max(1, pending.count - 1)
                result.isHurried = encoder.bytes.count <= bytesMax
                result.pace = hurry.pace(number)
                return result
            }
        }
        guard next == timing.entries.count else {
            throw AttachPrepError(.mediaCorrupt, "The animation ends before its last frame; it is broken.")
        }
        let bytes = encoder.finish()
        result.entries = pending
        result.estimate = bytes.count
        result.pace = hurry.pace(number)
        if bytes.count <= bytesMax { result.bytes = bytes }
        return result
    }
}
