import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// One encoding pass over an animation with a given step.
struct AnimationPass {
    /// What happens when a pass takes too long or its result gets too large.
    enum OverrunPolicy {
        /// The pass is aborted in both cases.
        case abort
        /// The pass is aborted when it gets too large; frames are dropped when time is short.
        case dropFramesWhenLate
        /// Frames are dropped in both cases, and the pass always has a result.
        case dropFramesToFit
    }

    struct Result {
        /// The whole GIF; nil when the pass was aborted.
        var bytes: [UInt8]?
        /// Bytes of the whole GIF, extrapolated from the written part if the pass was aborted.
        var estimate = 0
        var width = 0
        var height = 0
        /// The frames that were written.
        var entries: [FrameTiming.Entry] = []
        /// Whether frames were dropped, or the pass aborted, because time ran short.
        var isTimeLimited = false
        /// Source frames per second.
        var pace = 0.0
    }

    private let bytesMax: Int
    private let overrunPolicy: OverrunPolicy
    private let timing: FrameTiming
    private let resizer: FrameResizer
    private let frames: any AnimationDecoder
    private var pacing: PassPacing
    private var encoder: GIFEncoder
    private var result: Result
    private var entries: [FrameTiming.Entry] = []

    /// - Parameters:
    ///   - frames: Positioned at the first frame.
    ///   - delays: Delays of all frames, in milliseconds as devices show them.
    ///   - scale: Scale before that of the step is applied.
    init(
        _ frames: any AnimationDecoder, delays: [Int], step: AnimationStep, palette: GIFPalette?, scale: Double,
        bytesMax: Int, overrunPolicy: OverrunPolicy, clock: WorkClock
    ) {
        self.frames = frames
        self.bytesMax = bytesMax
        self.overrunPolicy = overrunPolicy
        timing = FrameTiming(delays: delays, rate: step.rate)
        resizer = FrameResizer(width: frames.width, height: frames.height, scale: scale * step.scale)
        pacing = PassPacing(clock: clock, count: frames.count)
        var settings = step.settings
        settings.sharedPalette = palette
        encoder = GIFEncoder(
            width: resizer.width, height: resizer.height, loopCount: frames.loopCount, settings: settings)
        result = Result(width: resizer.width, height: resizer.height)
    }

    mutating func run() throws -> Result {
        var number = 0
        for (position, entry) in timing.entries.enumerated() {
            if isAtItsEnd {
                leaveOut(entry, after: number)
                continue
            }
            let frame = try self.frame(entry.frame, next: &number)
            pacing.record(number)
            if !entries.isEmpty, isSkipped(position, after: number) {
                leaveOut(entry, after: number)
            } else {
                encoder.add(try resizer.resized(frame.pixels), hundredths: entry.hundredths)
                entries.append(entry)
            }
            if isGivenUp(after: number) { return givenUp(number) }
        }
        return finished(number)
    }

    private func isGivenUp(after number: Int) -> Bool {
        switch overrunPolicy {
        case .abort: encoder.bytes.count > bytesMax || pacing.mustGiveUp(after: number)
        case .dropFramesWhenLate: encoder.bytes.count > bytesMax
        case .dropFramesToFit: false
        }
    }

    /// Whether no more frames can be added, because of time or bytes.
    private var isAtItsEnd: Bool {
        guard overrunPolicy != .abort, !entries.isEmpty else { return false }
        return pacing.isOver || overrunPolicy == .dropFramesToFit && encoder.bytes.count > bytesMax
    }

    /// Whether a frame is dropped because time is short, or because the bytes exceed their share.
    private func isSkipped(_ position: Int, after number: Int) -> Bool {
        guard overrunPolicy != .abort else { return false }
        if pacing.skips(position, after: number) { return true }
        guard overrunPolicy == .dropFramesToFit, let first = encoder.frameBytes.first else { return false }
        let share = Double(position) / Double(timing.entries.count)
        return Double(encoder.bytes.count - first) > Double(bytesMax - first) * share * Self.aheadShare
    }

    /// How far frames may exceed their share of the bytes, since the last ones may need less.
    private static let aheadShare = 1.03

    /// Reads frames up to the given number.
    private func frame(_ wanted: Int, next: inout Int) throws -> AnimationFrame {
        while let frame = try frames.next() {
            next += 1
            if next > wanted { return frame }
        }
        throw AttachPrepError(.mediaCorrupt, "The animation ends before its last frame; the file is corrupt.")
    }

    /// Drops a frame; the one before it is shown longer.
    private mutating func leaveOut(_ entry: FrameTiming.Entry, after number: Int) {
        if encoder.bytes.count <= bytesMax, pacing.isShort(after: number) { result.isTimeLimited = true }
        encoder.extend(by: entry.hundredths)
        let last = entries.removeLast()
        let hundredths = last.hundredths.adding(clamping: entry.hundredths)
        entries.append(.init(frame: last.frame, hundredths: hundredths))
    }

    // MARK: Ending

    private func givenUp(_ number: Int) -> Result {
        var result = result
        result.estimate = encoder.bytes.count.multiplied(clamping: timing.entries.count) / max(1, entries.count - 1)
        result.isTimeLimited = encoder.bytes.count <= bytesMax
        result.pace = pacing.pace
        return result
    }

    private mutating func finished(_ number: Int) -> Result {
        var bytes = encoder.finish()
        result.estimate = bytes.count
        while overrunPolicy != .abort, bytes.count > bytesMax, encoder.dropLast() {
            let last = entries.removeLast()
            let own = entries.removeLast()
            let hundredths = own.hundredths.adding(clamping: last.hundredths)
            entries.append(.init(frame: own.frame, hundredths: hundredths))
            bytes = encoder.finish()
        }
        result.entries = entries
        result.pace = pacing.pace
        if bytes.count <= bytesMax { result.bytes = bytes }
        return result
    }
}

/// Predicts from the recent pace whether a pass will end in time.
struct PassPacing {
    /// Frames after which the pace is meaningful.
    private static let paceFramesMin = 3
    /// Seconds over which the pace is measured: a machine that was slow for half a second need not stay slow.
    private static let windowSeconds = 0.2
    /// Part of the time after which a pass is given up that will not end in time; the rest is for a reduced one.
    private static let patience = 0.3

    private let clock: WorkClock
    private let count: Int
    private let start: Double
    private let seconds: Double
    private var window: (number: Int, time: Double)
    private var number = 0
    private var measured: Double?

    /// - Parameter count: Frames of the whole pass.
    init(clock: WorkClock, count: Int) {
        self.clock = clock
        self.count = count
        start = clock.secondsSpent
        seconds = clock.secondsLeft
        window = (0, start)
    }

    /// Records that so many frames were read.
    mutating func record(_ number: Int) {
        let now = clock.secondsSpent
        self.number = number
        guard now - window.time >= Self.windowSeconds, number > window.number else { return }
        measured = Double(number - window.number) / (now - window.time)
        window = (number, now)
    }

    /// Recent frames per second; before the first measurement the average.
    var pace: Double { measured ?? Double(max(1, number)) / max(1e-4, clock.secondsSpent - start) }

    /// Whether no time is left.
    var isOver: Bool { clock.secondsLeft <= 0 }

    /// Whether the remaining frames take longer than the remaining time.
    func isShort(after number: Int) -> Bool {
        isOver || number > Self.paceFramesMin && measured != nil && Double(count - number) / pace > clock.secondsLeft
    }

    /// Whether a pass that keeps all frames has to be given up now.
    func mustGiveUp(after number: Int) -> Bool {
        isShort(after: number) && clock.secondsLeft <= seconds * (1 - Self.patience)
    }

    /// Whether the frame at a position is dropped; the shorter the time, the more frames are dropped.
    func skips(_ position: Int, after number: Int) -> Bool {
        guard isShort(after: number) else { return false }
        let left = max(1e-3, clock.secondsLeft)
        let needed = Double(count - number) / pace
        return position % min(64, max(2, Int(clamping: (needed / left).rounded(.up)))) != 0
    }
}

/// Resizes frames to one size.
struct FrameResizer {
    let width: Int
    let height: Int
    private let sourceWidth: Int
    private let sourceHeight: Int

    /// - Parameter scale: Scale of each side, at most 1.
    init(width: Int, height: Int, scale: Double) {
        sourceWidth = width
        sourceHeight = height
        self.width = max(1, Int(clamping: (Double(width) * scale).rounded()))
        self.height = max(1, Int(clamping: (Double(height) * scale).rounded()))
    }

    func resized(_ pixels: [UInt8]) throws -> [UInt8] {
        guard width != sourceWidth || height != sourceHeight else { return pixels }
        return try Image.wrap(pixels: pixels, width: sourceWidth, height: sourceHeight, bands: 4, orientation: 1)
            .stretched(width: width, height: height).pixels()
    }
}
