internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Ends connections that keep libcurl busy and bring nothing, or next to nothing.
///
/// libcurl's HTTP/2 and the TLS below it read on inside one call for as long as frames come that no transfer gets
/// anything from: no limit of time is looked at meanwhile, and every other transfer stands still. Measured with 7.88:
/// `curl --max-time 2` reads a flood of WINDOW_UPDATE frames for ever.
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

    let sockets = OpenSockets()
    /// Calls into libcurl, and calls back from it.
    private let beats = Atomic(0)
    /// Inside libcurl, and in none of its calls back: a disk may be slow.
    private let isInside = Atomic(false)
    private let isBusy = Atomic(false)
    private let isOver = Atomic(false)
    private let alarm: LoopAlarm

    /// - Returns: nil when there is no thread left.
    init?() {
        alarm = LoopAlarm()
        guard DetachedThread.start({ [self] in run() }) else { return nil }
    }

    /// Says whether there are transfers to watch.
    func watch(_ isBusy: Bool) {
        let wasBusy = self.isBusy.exchange(isBusy, ordering: .sequentiallyConsistent)
        if isBusy, !wasBusy { alarm.ring() }
    }

    /// Ends the watch.
    func stop() {
        isOver.store(true, ordering: .sequentiallyConsistent)
        alarm.ring()
    }

    /// Runs a call into libcurl that may read.
    func inside<Value, Failure: Error>(_ call: () throws(Failure) -> Value) throws(Failure) -> Value {
        beats.add(1, ordering: .relaxed)
        isInside.store(true, ordering: .sequentiallyConsistent)
        defer { isInside.store(false, ordering: .sequentiallyConsistent) }
        return try call()
    }

    /// Runs what libcurl calls back for.
    func outside<Value>(_ body: () -> Value) -> Value {
        let wasInside = isInside.exchange(false, ordering: .sequentiallyConsistent)
        defer {
            beats.add(1, ordering: .relaxed)
            isInside.store(wasInside, ordering: .sequentiallyConsistent)
        }
        return body()
    }

    private func run() {
        var lastBeat = -1
        var lastRead: [CInt: Int] = [:]
        while !isOver.load(ordering: .sequentiallyConsistent) {
            guard isBusy.load(ordering: .sequentiallyConsistent) else {
                alarm.wait()
                continue
            }
            usleep(Self.pauseMicroseconds)
            let beat = beats.load(ordering: .sequentiallyConsistent)
            let isStuck = isInside.load(ordering: .sequentiallyConsistent) && beat == lastBeat
            let read = isInside.load(ordering: .sequentiallyConsistent) ? sockets.bytesRead : [:]
            if isStuck {
                sockets.end(read.filter { $1 - (lastRead[$0] ?? $1) > Self.bytesUnseenMax }.keys)
            }
            sockets.end(sockets.wasteful(share: Self.wrappingShareMax, bytesFree: Self.bytesWastedMax))
            (lastBeat, lastRead) = (beat, read)
        }
    }
}
