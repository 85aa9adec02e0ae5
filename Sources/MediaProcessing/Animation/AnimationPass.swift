import RichPush
import SafeArithmetic

/// One pass over an animation, written as a step says.
struct AnimationPass {
    /// How a pass ends when it goes on for too long or gets too large.
    enum Haste {
        /// It gives up.
        case givesUp
        /// It gives up when it gets too large, and leaves frames out when time is short.
        case keepsTime
        /// It leaves frames out for either, and what has been written is the result.
        case finishes
    }

    /// What a pass came to.
    struct Result {
        /// The whole GIF; nil when it was given up.
        var bytes: [UInt8]?
        /// What the whole has, or would have by the part that was written.
        var estimate = 0
        var width = 0
        var height = 0
        /// The frames that were written.
        var entries: [FrameTiming.Entry] = []
        /// Whether frames were left out, or all given up, because time ran short.
        var isHurried = false
        /// Frames of the source a second.
        var pace = 0.0
    }

    private let bytesMax: Int
    private let haste: Haste
    private let timing: FrameTiming
    private let resizer: FrameResizer
    private let frames: any FrameSequence
    private let hurry: PassHurry
    private var encoder: GIFEncoder
    private var result: Result
    private var entries: [FrameTiming.Entry] = []

    /// - Parameters:
    ///   - frames: At their beginning.
    ///   - delays: Of all frames, in milliseconds as devices show them.
    ///   - scale: Of the size that is wanted; the step's comes on top.
    init(
        _ frames: any FrameSequence, delays: [Int], step: AnimationStep, palette: GIFPalette?, scale: Double,
        bytesMax: Int, haste: Haste, clock: WorkClock
    ) {
        self.frames = frames
        self.bytesMax = bytesMax
        self.haste = haste
        timing = FrameTiming(delays: delays, rate: step.rate)
        // Bounded: floating point.
        resizer = FrameResizer(width: frames.width, height: frames.height, scale: scale * step.scale)
        hurry = PassHurry(clock: clock, count: frames.count)
        var settings = step.settings
        settings.sharedPalette = palette
        encoder = GIFEncoder(
            width: resizer.width, height: resizer.height, loopCount: frames.loopCount, settings: settings)
        result = Result(width: resizer.width, height: resizer.height)
    }

    mutating func run() throws -> Result {
        var number = 0
        for (turn, entry) in timing.entries.enumerated() {
            if isAtItsEnd {
                leaveOut(entry, after: number)
                continue
            }
            let frame = try self.frame(entry.frame, &number)
            if !entries.isEmpty, isSkipped(turn, after: number) {
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
        switch haste {
        case .givesUp: encoder.bytes.count > bytesMax || hurry.isShort(after: number)
        case .keepsTime: encoder.bytes.count > bytesMax
        case .finishes: false
        }
    }

    /// Whether no more frames can be had or held.
    private var isAtItsEnd: Bool {
        guard haste != .givesUp, !entries.isEmpty else { return false }
        return hurry.isOver || haste == .finishes && encoder.bytes.count > bytesMax
    }

    /// Whether a frame is left out because time is short, or because the bytes are ahead of their share.
    private func isSkipped(_ turn: Int, after number: Int) -> Bool {
        guard haste != .givesUp else { return false }
        if hurry.skips(turn, after: number) { return true }
        guard haste == .finishes, let first = encoder.frameBytes.first else { return false }
        let share = Double(turn) / Double(timing.entries.count)
        // Bounded: bytes in memory, and a limit.
        return Double(encoder.bytes.count - first) > Double(bytesMax - first) * share * Self.aheadShare
    }

    /// The last frames may need less than their share; those before may be ahead by so much.
    private static let aheadShare = 1.03

    /// The frame of a number, at or after the one that comes next.
    private func frame(_ wanted: Int, _ next: inout Int) throws -> SequenceFrame {
        while let frame = try frames.next() {
            next += 1
            if next > wanted { return frame }
        }
        throw AttachPrepError(.mediaCorrupt, "The animation ends before its last frame; it is broken.")
    }

    /// The frame before it is shown for as long.
    private mutating func leaveOut(_ entry: FrameTiming.Entry, after number: Int) {
        if encoder.bytes.count <= bytesMax, hurry.isShort(after: number) { result.isHurried = true }
        encoder.extend(by: entry.hundredths)
        let last = entries.removeLast()
        let hundredths = last.hundredths.adding(clamping: entry.hundredths)
        entries.append(.init(frame: last.frame, hundredths: hundredths))
    }

    // MARK: The end

    private func givenUp(_ number: Int) -> Result {
        var result = result
        // Bounded: the divisor is at least 1.
        result.estimate = encoder.bytes.count.multiplied(clamping: timing.entries.count) / max(1, entries.count - 1)
        result.isHurried = encoder.bytes.count <= bytesMax
        result.pace = hurry.pace(number)
        return result
    }

    private mutating func finished(_ number: Int) -> Result {
        var bytes = encoder.finish()
        result.estimate = bytes.count
        while haste != .givesUp, bytes.count > bytesMax, encoder.dropLast() {
            let last = entries.removeLast()
            let own = entries.removeLast()
            let hundredths = own.hundredths.adding(clamping: last.hundredths)
            entries.append(.init(frame: own.frame, hundredths: hundredths))
            bytes = encoder.finish()
        }
        result.entries = entries
        result.pace = hurry.pace(number)
        if bytes.count <= bytesMax { result.bytes = bytes }
        return result
    }
}
