import Linux
import MediaEngine
import RichPush
import Synchronization

/// One call on its way through a worker's thread, and whether anybody still wants its answer.
final class MediaJob: Sendable {
    let call: MediaCall
    /// Borrowed from the caller, who waits for the answer.
    let descriptors: [CInt]
    let deadline: ContinuousClock.Instant
    private let state = Mutex(State())

    private struct State {
        var isCancelled = false
        var child: ChildProcess?
    }

    init(call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) {
        self.call = call
        self.descriptors = descriptors
        self.deadline = deadline
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Says which child works on it; false when nobody wants the answer any more.
    func begin(on child: ChildProcess) -> Bool {
        state.withLock { state in
            state.child = child
            return !state.isCancelled
        }
    }

    /// The child may be given other work from here on.
    func end() {
        state.withLock { $0.child = nil }
    }

    /// Nothing stops a decoder but the end of its process.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.child?.kill()
        }
    }
}
