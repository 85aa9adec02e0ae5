import LibAV

/// A decoder's frames, handed on as they come.
struct FrameOutput {
    /// A decoder that fails so often without a frame between will never give one.
    private static let failuresMax = 64

    private let decoder: Decoder

    init(_ decoder: Decoder) { self.decoder = decoder }

    /// Sends a packet, or nil for the end, and hands on each frame that comes out until `use` says no. A packet that
    /// does not decode is stepped over: the ones after it may.
    func feed(_ packet: Packet?, use: (Frame) -> Bool) throws {
        do { _ = try decoder.send(packet) } catch { if error.isOutOfMemory { throw error } }
        var failures = 0
        while failures < Self.failuresMax {
            let frame = try Frame()
            do {
                if try decoder.receive(into: frame) != .frame { return }
                if !use(frame) { return }
            } catch {
                if error.isOutOfMemory { throw error }
                failures += 1
            }
        }
    }
}

/// The choice among frames in presentation order: the last one that is not later than the target.
struct FrameChoice {
    private let clock: FrameClock
    private let target: Int64
    private let isFromStart: Bool
    private let takesUnrecovered: Bool
    private var previous: Int64?

    private(set) var found: (frame: Frame, tick: Int64)?
    /// Whether a later frame was seen: nothing better will come.
    private(set) var isMade = false

    init(clock: FrameClock, target: Int64, isFromStart: Bool, takesUnrecovered: Bool = false) {
        self.clock = clock
        self.target = target
        self.isFromStart = isFromStart
        self.takesUnrecovered = takesUnrecovered
    }

    /// Looks at the next frame; false once the choice is made.
    mutating func consider(_ frame: Frame, delay: Int) -> Bool {
        let tick = clock.presentation(frame, after: previous, delay: delay)
        previous = tick
        if frame.isUnrecovered, !takesUnrecovered { return true }
        if tick <= target {
            found = (frame, tick)
            return true
        }
        if found == nil, isFromStart { found = (frame, tick) }
        isMade = true
        return false
    }
}
