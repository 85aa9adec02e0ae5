import Synchronization

/// How a worker keeps the leases of what it has in hand, and hears of those that it has no longer.
extension JobWorker {
    /// Renews all leases in one call, and stops the work on those that are no longer to be worked on.
    func beat() async {
        rooms.metrics.note(rooms.preparer.statistics)
        let leases = rooms.hands.leases
        guard !leases.isEmpty else { return }
        do {
            let standings = try await rooms.store.extend(leases, by: rooms.settings.lease)
            for lease in leases {
                switch standings[lease.job] {
                case .held: break
                case .cancelled: rooms.hands.stop(lease, .cancelled)
                case .lost, nil: rooms.hands.stop(lease, .lost)
                }
            }
            state.withLock { $0.beatenAt = .now }
            rooms.pulse.answered()
        } catch {
            rooms.pulse.failed(error)
        }
    }

    /// Renews leases that may be about to run out, before a claim takes back those that have: a process that was
    /// stopped for a while, or whose disk was, must not lose its jobs to itself.
    func beatIfLate() async {
        let beatenAt = state.withLock { $0.beatenAt }
        // Bounded: spans of our own settings and limits.
        guard rooms.hands.count > 0, beatenAt + rooms.settings.lease / 2 < .now else { return }
        await beat()
    }

    func hear(_ change: JobFeed.Change) {
        switch change.state {
        case .queued: bell.ring()
        // Claimed, or called off while it runs: a beat tells.
        case .running where rooms.hands.contains(change.job): beatSoon()
        default: break
        }
    }

    /// One beat for all that is heard within a moment.
    private func beatSoon() {
        let isFirst = state.withLock { state in
            defer { state.beatsSoon = true }
            return !state.beatsSoon
        }
        guard isFirst else { return }
        Task {
            try await ContinuousClock().sleep(for: Self.moment)
            state.withLock { $0.beatsSoon = false }
            await beat()
        }
    }

    /// Nobody who calls a job off notices less, and a hundred claims in it are one beat.
    private static let moment = Duration.milliseconds(200)
}
