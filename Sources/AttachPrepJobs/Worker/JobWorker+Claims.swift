import RichPush
import SafeArithmetic
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How jobs come into a worker's hands.
extension JobWorker {
    var leavesBy: ContinuousClock.Instant? { state.withLock { $0.leavesBy } }

    func work() async {
        var failures = 0
        while leavesBy == nil {
            var pause = rooms.settings.poll
            do {
                if try await !claim() { pause = min(pause, try await untilNextDue()) }
                failures = 0
                rooms.pulse.answered()
            } catch {
                rooms.pulse.failed(error)
                failures += 1
                // Bounded: floating-point numbers.
                pause = .seconds(min(Self.backOffSeconds * Double(1 << min(failures, 10)), Self.backOffSecondsMax))
            }
            await bell.wait(atMost: pause)
        }
    }

    /// A store that does not answer is asked again after that, doubled each time.
    private static let (backOffSeconds, backOffSecondsMax) = (0.1, 5.0)

    /// Fills the room that there is; tells whether all of it was filled.
    private func claim() async throws -> Bool {
        let (settings, store) = (rooms.settings, rooms.store)
        let room = room(of: settings.concurrency)
        guard room > 0 else { return true }
        await beatIfLate()
        let jobs = try await store.claim(
            room, by: settings.name, lease: settings.lease, hostLimit: settings.hostLimit)
        // Called off while it was asking: as if it had not.
        if leavesBy != nil { try await release(jobs.map(\.lease)) } else { jobs.forEach(begin) }
        return jobs.count == room
    }

    private func room(of concurrency: Int) -> Int {
        let inHand = rooms.hands.count
        return switch rooms.storage.allowance() {
        case .all: concurrency.subtracting(clamping: inHand)
        case .one: inHand == 0 ? 1 : 0
        case .none: 0
        }
    }

    private func begin(_ job: ClaimedJob) {
        rooms.hands.begin(job.lease) { [rooms, bell] in
            await JobRun(job, rooms).run()
            rooms.hands.end(job.lease)
            bell.ring()
        }
    }

    private func untilNextDue() async throws -> Duration {
        guard let date = try await rooms.store.nextDue() else { return rooms.settings.poll }
        return .seconds(clamping: max(0, date.timeIntervalSinceNow))
    }
}
