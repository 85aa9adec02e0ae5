import Logging
import Synchronization

/// How a worker leaves: with empty hands.
extension JobWorker {
    func startLeaving(by instant: ContinuousClock.Instant) {
        state.withLock { $0.leavesBy = $0.leavesBy.map { min($0, instant) } ?? instant }
        rooms.pulse.leave()
        bell.ring()
    }

    func leave() async {
        await untilHandsAreEmpty { [self] in leavesBy ?? .now }
        let leases = rooms.hands.leases
        guard !leases.isEmpty else { return }
        rooms.logger.notice("puts jobs back into the queue", metadata: ["count": "\(leases.count)"])
        for lease in leases { rooms.hands.stop(lease, .returned) }
        // Those that ended meanwhile have no lease any more, and nothing happens to them.
        do { try await release(leases) } catch { rooms.pulse.failed(error) }
        let limit = ContinuousClock.now + Self.interruptionMax
        await untilHandsAreEmpty { limit }
    }

    /// Work that is cancelled ends at once but for copying a large file; what it leaves is swept at the next start.
    private static let interruptionMax = Duration.seconds(3)

    private func untilHandsAreEmpty(_ limit: () -> ContinuousClock.Instant) async {
        while rooms.hands.count > 0 {
            let left = ContinuousClock.now.duration(to: limit())
            guard left > .zero else { return }
            await bell.wait(atMost: left)
        }
    }

    func release(_ leases: [JobLease]) async throws {
        guard !leases.isEmpty else { return }
        try await uninterrupted { [rooms] in try await rooms.store.release(leases) }
    }
}
