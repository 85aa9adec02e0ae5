internal import Glibc
internal import Linux
internal import SafeArithmetic
internal import Synchronization

/// Stops libcurl calls that do not return, from a thread of its own.
///
/// libcurl's HTTP/2 and TLS code reads on within one call while frames arrive that contain no data of a transfer. No
/// time limit is checked meanwhile, and all other transfers are blocked. Measured with 7.88: `curl --max-time 2` reads
/// a flood of WINDOW_UPDATE frames without end. There are three countermeasures:
///
/// - A connection from which far more is read than transfers receive is shut down.
/// - When a call outlasts the earliest deadline of all transfers, all connections are shut down.
/// - When the call still does not return, its thread and handle are abandoned: `LoopOwner.abandonLoop`.
final class LoopWatchdog: Sendable {
    /// The interval between two checks; normal calls return or call back well within it.
    private static let pauseMicroseconds: UInt32 = 200_000
    /// Bytes that libcurl may read from one connection per interval without a callback; a flood has 100 times as many.
    private static let bytesUnseenMax = 500_000

    /// Bytes that libcurl may read from one connection in total beyond what transfers receive: handshakes, frames,
    /// chunk sizes and the rest of aborted responses. More than that is padding, extensions and empty frames.
    private static let bytesWastedMax = 30_000_000
    /// How many times the bytes received by transfers may be read before the rest counts as waste.
    private static let wrappingShareMax = 4

    /// How long a call may outlast a deadline; normal calls take milliseconds, 0.1 s under load.
    private static let overtimeMax = Duration.seconds(1)
    /// How long a call may continue after its connections were shut down.
    private static let afterShutMax = Duration.milliseconds(500)

    /// What the loop thread is running. Only the watchdog abandons it, and only in a libcurl call outside a callback:
    /// no observer is in use then, and none is called afterwards.
    private enum Position {
        static let ownCode = 0
        static let libcurl = 1
        static let callback = 2
        static let abandoned = 3
    }

    /// A libcurl call without a callback since the previous check.
    private struct StuckCall {
        let beat: Int
        let since: ContinuousClock.Instant
        var shutAt: ContinuousClock.Instant?
    }

    let sockets = OpenSockets()
    private let position = Atomic(Position.ownCode)
    /// Counts calls into libcurl and callbacks.
    private let beats = Atomic(0)
    private let isBusy = Atomic(false)
    private let isOver = Atomic(false)
    private let owner = Mutex<(any LoopOwner)?>(nil)
    private let alarm: AutoResetEvent

    /// Starts the watchdog thread; nil when the system cannot create one.
    init?() {
        alarm = AutoResetEvent()
        do { try DedicatedThread.start(name: "curl-watchdog") { [self] in run() } } catch { return nil }
    }

    /// Sets the owner, which provides the deadlines.
    func belongs(to owner: any LoopOwner) {
        self.owner.withLock { $0 = owner }
    }

    /// Activates or pauses the checks.
    func setActive(_ isBusy: Bool) {
        let wasBusy = self.isBusy.exchange(isBusy, ordering: .sequentiallyConsistent)
        if isBusy, !wasBusy { alarm.signal() }
    }

    /// Ends the watchdog thread.
    func stop() {
        owner.withLock { $0 = nil }
        isOver.store(true, ordering: .sequentiallyConsistent)
        alarm.signal()
    }

    /// Whether the loop thread was abandoned: it may only release its own resources and end.
    var isAbandoned: Bool { position.load(ordering: .sequentiallyConsistent) == Position.abandoned }

    /// Runs a libcurl call that may block.
    func insideLibcurl<Value, Failure: Error>(_ call: () throws(Failure) -> Value) throws(Failure) -> Value {
        beats.add(1, ordering: .relaxed)
        _ = position.compareExchange(
            expected: Position.ownCode, desired: Position.libcurl, ordering: .sequentiallyConsistent)
        defer {
            _ = position.compareExchange(
                expected: Position.libcurl, desired: Position.ownCode, ordering: .sequentiallyConsistent)
        }
        return try call()
    }

    /// Runs the body of a libcurl callback, which may wait for a disk.
    ///
    /// - Returns: Nil without running it when the loop was abandoned; the callback must then return an error.
    func insideCallback<Value>(_ body: () -> Value) -> Value? {
        let (isEntered, was) = position.compareExchange(
            expected: Position.libcurl, desired: Position.callback, ordering: .sequentiallyConsistent)
        guard was != Position.abandoned else { return nil }
        defer {
            beats.add(1, ordering: .relaxed)
            // During a callback only this thread changes the position.
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

    /// Ends a call that has outlasted the earliest deadline; true when the loop was abandoned.
    private func end(_ stuck: inout StuckCall?) -> Bool {
        guard let call = stuck, let owner = owner.withLock(\.self), let end = owner.earliestEnd else { return false }
        let now = ContinuousClock.now
        guard let shutAt = call.shutAt else {
            if now > max(call.since, end) + Self.overtimeMax {
                sockets.endAll()
                stuck?.shutAt = now
            }
            return false
        }
        guard now > shutAt + Self.afterShutMax else { return false }
        let (isAbandoned, _) = position.compareExchange(
            expected: Position.libcurl, desired: Position.abandoned, ordering: .sequentiallyConsistent)
        if isAbandoned { owner.abandonLoop() }
        return isAbandoned
    }
}

/// Provides the deadlines of a watched loop, and reports its transfers when it is abandoned.
protocol LoopOwner: AnyObject, Sendable {
    /// When the current libcurl call must have returned so that a transfer can be ended in time; nil without transfers.
    var earliestEnd: ContinuousClock.Instant? { get }

    /// Reports all transfers of a loop whose libcurl call does not return.
    func abandonLoop()
}

/// An event that one `wait` consumes; if it is signaled before, `wait` returns at once.
@safe final class AutoResetEvent: @unchecked Sendable {
    // Sendable because the mutex guards the flag, and the condition belongs to it.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isSignaled = false

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        let isReady = unsafe pthread_mutex_init(mutex, nil) == 0 && pthread_cond_init(condition, nil) == 0
        precondition(isReady, "a default mutex and condition variable need no resources")
    }

    deinit {
        // Neither call can fail when no thread waits.
        _ = unsafe pthread_cond_destroy(condition)
        _ = unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    func signal() {
        withLock {
            isSignaled = true
            _ = unsafe pthread_cond_signal(condition)
        }
    }

    func wait() {
        withLock {
            while !isSignaled { _ = unsafe pthread_cond_wait(condition, mutex) }
            isSignaled = false
        }
    }

    /// Neither call can fail for a valid mutex that is not locked recursively.
    private func withLock(_ body: () -> Void) {
        _ = unsafe pthread_mutex_lock(mutex)
        defer { _ = unsafe pthread_mutex_unlock(mutex) }
        body()
    }
}
