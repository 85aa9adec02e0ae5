import Synchronization

@testable import MediaProcessing

/// A clock that moves only when a test moves it.
final class ManualTime: Sendable {
    private let offset = Mutex(Duration.zero)
    private let origin = ContinuousClock.now

    func pass(_ seconds: Double) { offset.withLock { $0 += .seconds(seconds) } }

    var spent: Double { offset.withLock { $0 } / .seconds(1) }

    /// A clock whose aim is in so many seconds.
    func clock(aimingAt seconds: Double) -> WorkClock {
        WorkClock(
            start: origin, aim: origin + .seconds(seconds), deadline: origin + .seconds(seconds * 2),
            now: { [self] in origin + offset.withLock { $0 } })
    }
}

/// A machine whose speed changes while it works.
enum MachineSpeed: CaseIterable {
    case slowThenFast, slow, fastThenSlow

    /// How many times slower it is at a time in seconds.
    func slowness(at seconds: Double) -> Double {
        switch self {
        case .slowThenFast: seconds < 0.5 ? 20 : 1
        case .slow: 20
        case .fastThenSlow: seconds < 1 ? 1 : 20
        }
    }
}
