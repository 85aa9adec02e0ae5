/// Which of a transfer's time limits is the next to run out; lives on the loop's thread.
struct TransferClock {
    private let limits: TransferLimits
    private let started: ContinuousClock.Instant
    private var requestSent: ContinuousClock.Instant?
    private var lastByte: ContinuousClock.Instant?

    init(_ limits: TransferLimits, started: ContinuousClock.Instant = .now) {
        self.limits = limits
        self.started = started
    }

    /// The request is about to leave.
    mutating func sendRequest(at now: ContinuousClock.Instant = .now) {
        requestSent = now
    }

    /// Header or body has arrived.
    mutating func receive(at now: ContinuousClock.Instant = .now) {
        lastByte = now
    }

    /// When the transfer must be stopped if nothing happens until then, and what it then died of.
    var end: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        let stage = stageEnd
        return limits.deadline <= stage.instant ? (limits.deadline, .deadlineReached) : stage
    }

    private var stageEnd: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        if let lastByte { return (lastByte + limits.stall, .stalled) }
        if let requestSent { return (requestSent + limits.firstByte, .firstByteTimedOut) }
        return (started + limits.connect, .connectTimedOut)
    }
}
