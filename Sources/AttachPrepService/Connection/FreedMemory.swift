import Linux
import NIOPosix
import Synchronization

/// Gives memory back to the machine after many connections were open: glibc keeps what was freed in pieces, in an arena
/// for each thread, and a crowd that came once would cost its memory for ever.
final class FreedMemory: Sendable {
    private struct State {
        var open = 0
        /// Most connections since memory was last given back.
        var peak = 0
        var lastAt: ContinuousClock.Instant?
        var isPlanned = false
    }

    private let state = Mutex(State())

    /// Fewer connections than this leave too little behind for a look at every arena.
    private static let crowd = 32
    /// Between two times: a trim locks each arena for a moment, and callers must not be able to ask for more of them.
    private static let pause = Duration.seconds(2)

    func noteOpen(_ open: Int) {
        state.withLock { state in
            state.open = open
            state.peak = max(state.peak, open)
        }
    }

    func noteClosed(leaving open: Int) {
        let isDue = state.withLock { state in
            state.open = open
            guard !state.isPlanned, state.peak >= Self.crowd, open <= state.peak / 2 else { return false }
            state.isPlanned = true
            return true
        }
        guard isDue else { return }
        Task { await trim() }
    }

    private func trim() async {
        let wait = state.withLock { state -> Duration in
            guard let lastAt = state.lastAt else { return .milliseconds(200) }
            // Bounded: times of one clock of ours.
            return max(.milliseconds(200), Self.pause - (ContinuousClock.now - lastAt))
        }
        // What is being closed with this one is freed by then.
        try? await ContinuousClock().sleep(for: wait)
        try? await FileThreads.run { FreeMemory.giveBack() }
        state.withLock { state in
            // What is freed from now on is for the next time.
            (state.peak, state.lastAt, state.isPlanned) = (state.open, .now, false)
        }
    }
}
