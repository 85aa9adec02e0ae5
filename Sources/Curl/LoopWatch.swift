internal import SafeArithmetic
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Ends what keeps libcurl busy and brings nothing; a thread of its own, which depends on no call back.
///
/// libcurl's HTTP/2 and the TLS below it read on inside one call for as long as frames come that no transfer gets
/// anything from: no limit of time is looked at meanwhile, and every other transfer stands still. Measured with 7.88:
/// `curl --max-time 2` reads a flood of WINDOW_UPDATE frames for ever. Three answers, from the mildest:
///
/// - A connection from which far more is read than transfers get is shut.
/// - When one call has outlasted the earliest deadline of all transfers, every connection is shut.
/// - When that does not bring the call back, the thread and its handle are abandoned: `LoopOwner.abandonLoop`.
final class LoopWatch: Sendable {
    /// Between two looks; a call that goes on from one to the next without calling back is far from usual.
    private static let pauseMicroseconds: UInt32 = 200_000
    /// What libcurl may read from one connection in that time without calling back: a flood is a hundred times that.
    private static let bytesUnseenMax = 500_000

    /// What libcurl may read from one connection over its life beyond what transfers got from it: handshakes, frames,
    /// sizes of chunks, the rest of answers that were given up. More is padding, extensions and empty frames.
    private static let bytesWastedMax = 30_000_000
    /// Pieces may be that much smaller than what is wrapped around them before it counts as waste.
    private static let wrappingShareMax = 4

    /// How long one call may outlast a deadline: honest ones take milliseconds, a tenth of a second under load.
    private static let overtimeMax = Duration.seconds(1)
    /// And how long it may go on when it has no connection left.
    private static let afterShutMax = Duration.milliseconds(500)

    /// Where the loop's thread is. Only the watch abandons it, and only out of a call into libcurl that is in no call
    /// back: no observer is in use then, and none is called from then on.
    private enum Position {
        static let ours = 0
        static let libcurl = 1
        static let callback = 2
        static let abandoned = 3
    }

    /// A call that goes on without calling back.
    private struct StuckCall {
        let beat: Int
        let since: ContinuousClock.Instant
        var shutAt: ContinuousClock.Instant?
    }

    let sockets = OpenSockets()
    private let position = Atomic(Position.ours)
    /// Calls into libcurl, and calls back from it.
    private let beats = Atomic(0)
    private let isBusy = Atomic(false)
    private let isOver = Atomic(false)
    private let owner = Mutex<(any LoopOwner)?>(nil)
    private let alarm: LoopAlarm

    /// - Returns: nil when there is no thread left.
    init?() {
        alarm = LoopAlarm()
        guard DetachedThread.start({ [self] in run() }) else { return nil }
    }

    /// Names who knows the deadlines.
    func belongs(to owner: any LoopOwner) {
        self.owner.withLock { $0 = owner }
    }

    /// Says whether there are transfers to watch.
    func watch(_ isBusy: Bool) {
        let wasBusy = self.isBusy.exchange(isBusy, ordering: .sequentiallyConsistent)
        if isBusy, !wasBusy { alarm.ring() }
    }

    /// Ends the watch.
    func stop() {
        owner.withLock { $0 = nil }
        isOver.store(true, ordering: .sequentiallyConsistent)
        alarm.ring()
    }

    /// Whether the loop's thread was given up: it may only put its own things away and end.
    var isAbandoned: Bool { position.load(ordering: .sequentiallyConsistent) == Position.abandoned }

    /// Runs a call into libcurl that may take long.
    func inside<Value, Failure: Error>(_ call: () throws(Failure) -> Value) throws(Failure) -> Value {
        beats.add(1, ordering: .relaxed)
        _ = position.compareExchange(
            expected: Position.ours, desired: Position.libcurl, ordering: .sequentiallyConsistent)
        defer {
            _ = position.compareExchange(
                expected: Position.libcurl, desired: Position.ours, ordering: .sequentiallyConsistent)
        }
        return try call()
    }

    /// Runs what libcurl calls back for, which may wait for a disk.
    ///
    /// - Returns: nil when the loop was abandoned: nothing was run, and libcurl is to be told to stop.
    func outside<Value>(_ body: () -> Value) -> Value? {
        let (isEntered, was) = position.compareExchange(
            expected: Position.libcurl, desired: Position.callback, ordering: .sequentiallyConsistent)
        guard was != Position.abandoned else { return nil }
        defer {
            beats.add(1, ordering: .relaxed)
            // Nobody else changes it out of a call back.
            if isEntered { position.store(Position.libcurl, ordering: .sequentiallyConsistent) }
        }
        return body()
    }

    private func run() {
        var lastBeat = -1
        var lastRead: [CInt: Int] = [:]
        var stuck: StuckCall?
        while !isOver.load(ordering: .sequentiallyConsistent) {
            guard isBusy.load(ordering: .sequentiallyConsistent) else {
                alarm.wait()
                continue
            }
            usleep(Self.pauseMicroseconds)
            let beat = beats.load(ordering: .sequentiallyConsistent)
            let isInside = position.load(ordering: .sequentiallyConsistent) == Position.libcurl
            let read = isInside ? sockets.bytesRead : [:]
            if isInside && beat == lastBeat {
                sockets.end(
                    read.filter { $1.subtracting(clamping: lastRead[$0] ?? $1) > Self.bytesUnseenMax }.keys)
                if stuck?.beat != beat { stuck = StuckCall(beat: beat, since: .now) }
                if end(&stuck) { return }
            } else {
                stuck = nil
            }
            sockets.end(sockets.wasteful(share: Self.wrappingShareMax, bytesFree: Self.bytesWastedMax))
            (lastBeat, lastRead) = (beat, read)
        }
    }

    /// Ends a call that has outlasted the time that transfers have; true when the loop was abandoned over it.
    private func end(_ stuck: inout StuckCall?) -> Bool {
        guard let call = stuck, let owner = owner.withLock(\.self), let end = owner.earliestEnd else { return false }
        let now = ContinuousClock.now
        guard let shutAt = call.shutAt else {
            // Bounded: a deadline of ours.
            if now > max(call.since, end) + Self.overtimeMax {
                sockets.endAll()
                stuck?.shutAt = now
            }
            return false
        }
        // Bounded: a moment that was.
        guard now > shutAt + Self.afterShutMax else { return false }
        let (isAbandoned, _) = position.compareExchange(
            expected: Position.libcurl, desired: Position.abandoned, ordering: .sequentiallyConsistent)
        if isAbandoned { owner.abandonLoop() }
        return isAbandoned
    }
}

/// Who knows what a watched loop works on.
protocol LoopOwner: AnyObject, Sendable {
    /// When the loop's thread must have come back to end something; nil while nothing has an end.
    var earliestEnd: ContinuousClock.Instant? { get }

    /// The loop's thread does not come back: what it worked on is to be reported.
    func abandonLoop()
}
