import Foundation
import Synchronization

/// Measures elapsed time without pauses in which the machine did not run this process.
///
/// A thread that only sleeps detects the pauses by waking late, on a machine that is busy or out of memory. Delays that
/// threads of this process cause each other are not subtracted.
public struct FairStopwatch: Sendable {
    private let start = ContinuousClock.now
    private let pausedAtStart = Self.pausedNanoseconds

    public init() {}

    public var took: Duration {
        let whole = start.duration(to: .now)
        // The sleeping thread may not have woken from the last pause yet.
        if whole > .seconds(1) { usleep(50_000) }
        return whole - .nanoseconds(Self.pausedNanoseconds - pausedAtStart)
    }

    private static let turnNanoseconds: Int64 = 10_000_000

    private static let paused: Pauses = {
        let pauses = Pauses()
        Thread.detachNewThread {
            while true {
                let start = ContinuousClock.now
                usleep(UInt32(turnNanoseconds / 1_000))
                let late = start.duration(to: .now) - .nanoseconds(turnNanoseconds)
                let (seconds, attoseconds) = late.components
                let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
                // Timers are late by a few tenths of a millisecond on every machine.
                if nanoseconds > turnNanoseconds / 10 { pauses.nanoseconds.add(nanoseconds, ordering: .relaxed) }
            }
        }
        return pauses
    }()

    private static var pausedNanoseconds: Int64 { paused.nanoseconds.load(ordering: .relaxed) }

    private final class Pauses: Sendable {
        let nanoseconds = Atomic<Int64>(0)
    }
}
