internal import SafeArithmetic

/// Which of a transfer's time limits is the next to run out; lives on the loop's thread.
struct TransferClock {
    private let limits: TransferLimits
    private let started: ContinuousClock.Instant
    private var requestSent: ContinuousClock.Instant?
    /// When enough had come the last time.
    private var lastProgress: ContinuousClock.Instant?
    private var bytesSinceProgress = 0
    /// When a piece of the body went out, while there is more to send.
    private var lastSent: ContinuousClock.Instant?

    init(_ limits: TransferLimits, started: ContinuousClock.Instant = .now) {
        self.limits = limits
        self.started = started
    }

    /// The request is about to leave.
    mutating func sendRequest(at now: ContinuousClock.Instant = .now) {
        requestSent = now
    }

    /// A piece of the request's body went out; the wait for the answer begins behind the last one.
    mutating func send(_ bytes: Int, isLast: Bool, at now: ContinuousClock.Instant = .now) {
        lastSent = isLast ? nil : now
        if isLast { requestSent = now }
    }

    /// The answer's head is whole.
    mutating func receiveHead(at now: ContinuousClock.Instant = .now) {
        lastProgress = now
        bytesSinceProgress = 0
    }

    /// Body or trailers have arrived.
    ///
    /// A drip is no progress: a byte now and then would hold a transfer for as long as its request has time.
    mutating func receive(_ bytes: Int, at now: ContinuousClock.Instant = .now) {
        bytesSinceProgress = bytesSinceProgress.adding(clamping: bytes)
        guard bytesSinceProgress >= limits.stallBytesMin else { return }
        receiveHead(at: now)
    }

    /// Whether the request is still waiting for its connection.
    var isConnecting: Bool { requestSent == nil }

    /// When the transfer must be stopped if nothing happens until then, and what it then died of.
    var end: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        let stage = stageEnd
        return limits.deadline <= stage.instant ? deadlineEnd : stage
    }

    /// The end of all the time there is.
    var deadlineEnd: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        (limits.deadline, .deadlineReached)
    }

    private var stageEnd: (instant: ContinuousClock.Instant, ending: TransferEnding) {
        // Bounded: a time limit of ours, here and below.
        if let lastProgress { return (lastProgress + limits.stall, .stalled) }
        // Bounded: a time limit of ours.
        if let lastSent { return (lastSent + limits.stall, .stalled) }
        // Bounded: a time limit of ours.
        if let requestSent { return (requestSent + limits.firstByte, .firstByteTimedOut) }
        // Bounded: a time limit of ours.
        return (started + limits.connect, .connectTimedOut)
    }
}
