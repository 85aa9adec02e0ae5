import AttachPrepJobs
import Foundation
import Synchronization

/// Both clocks of a driver, moved by hand.
final class TestClock: Sendable {
    private struct State {
        var wall = Date(timeIntervalSince1970: 1_795_294_262)
        var steady: Int64 = 1_000_000
    }

    private let state = Mutex(State())

    var now: Date { state.withLock { $0.wall } }

    /// Time passes.
    func advance(_ seconds: Double) {
        state.withLock { state in
            state.wall += seconds
            state.steady += Int64(seconds * 1000)
        }
    }

    /// Somebody sets the clock on the wall.
    func jump(_ seconds: Double) {
        state.withLock { $0.wall += seconds }
    }

    func storeClock(bootID: String = "first start") -> StoreClock {
        StoreClock(
            wall: { self.state.withLock { $0.wall } }, steadyMilliseconds: { self.state.withLock { $0.steady } },
            bootID: bootID)
    }
}
