import Synchronization

/// How far a mirror has heard of its bucket, for those who wait for that.
final class MirrorHearing: Sendable {
    private struct State {
        var revision: UInt64 = 0
        var last = 0
        var waiting: [Int: (revision: UInt64, continuation: CheckedContinuation<Void, Never>)] = [:]
    }

    private let state = Mutex(State())

    /// The change up to which all were taken in.
    var revision: UInt64 { state.withLock { $0.revision } }

    /// All changes up to that one were taken in.
    func heard(_ revision: UInt64) {
        let ready = state.withLock { state in
            state.revision = max(state.revision, revision)
            let ready = state.waiting.filter { $0.value.revision <= state.revision }
            for number in ready.keys { state.waiting[number] = nil }
            return ready.values.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Returns when all up to that one were taken in, or that time is over.
    func wait(for revision: UInt64, atMost time: Duration) async {
        let number = state.withLock { state -> Int? in
            guard state.revision < revision else { return nil }
            state.last += 1
            return state.last
        }
        guard let number else { return }
        let end = ContinuousClock.now + time
        let alarm = Task {
            try await ContinuousClock().sleep(until: end)
            giveUp(number)
        }
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                // The alarm may have rung before there was anybody to hear it.
                if state.revision >= revision || ContinuousClock.now >= end { return true }
                state.waiting[number] = (revision, continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
        alarm.cancel()
    }

    private func giveUp(_ number: Int) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: number) }
        waiting?.continuation.resume()
    }

    /// Everything is heard anew.
    func startAnew() { state.withLock { $0.revision = 0 } }
}
