import LibAV

/// The choice among frames in presentation order: the last one that is not later than the target.
struct FrameChoice {
    private let clock: FrameClock
    private let target: Int64
    private let isFromStart: Bool
    private var trust: FrameTrust
    private var previous: Int64?

    private(set) var found: (frame: Frame, tick: Int64)?
    /// Whether a later frame was seen: nothing better will come.
    private(set) var isMade = false

    init(clock: FrameClock, target: Int64, isFromStart: Bool, trust: FrameTrust) {
        self.clock = clock
        self.target = target
        self.isFromStart = isFromStart
        self.trust = trust
    }

    /// Looks at the next frame; false once the choice is made.
    mutating func consider(_ frame: Frame, isDrained: Bool) -> Bool {
        let tick = clock.presentation(frame, after: previous)
        previous = tick
        if !trust.allows(frame, isDrained: isDrained) { return true }
        if tick <= target {
            found = (frame, tick)
            return true
        }
        if found == nil, isFromStart { found = (frame, tick) }
        isMade = true
        return false
    }
}

/// Whether frames after a seek are what the movie shows.
///
/// Pictures shown before the keyframe lean on pictures that were not decoded. Where the keyframe is no picture coded
/// alone but the beginning of a gradual refresh, libav marks pictures until the refresh is through; those it holds back
/// until it is drained it does not mark.
struct FrameTrust {
    private let leader: Int64?
    private let isRefreshed: Bool
    private var isWon = false

    /// - Parameters:
    ///   - leader: Presentation time of the keyframe, in ticks, where known.
    ///   - codec: libavcodec's name. H.264 alone has gradual refresh; in others a keyframe that was predicted is none,
    ///     whatever the container says.
    init(leader: Int64?, codec: String) {
        self.leader = leader
        isRefreshed = codec == "h264"
    }

    /// Takes everything as it comes.
    static var unconditional: FrameTrust {
        var trust = FrameTrust(leader: nil, codec: "")
        trust.isWon = true
        return trust
    }

    /// - Parameter isDrained: Whether the frame came out because there are no more packets.
    mutating func allows(_ frame: Frame, isDrained: Bool) -> Bool {
        if let leader, let time = frame.presentationTimestamp, time < leader { return false }
        isWon = isWon || !frame.isPredicted || isRefreshed && !isDrained && !frame.isUnrecovered
        return isWon
    }
}
