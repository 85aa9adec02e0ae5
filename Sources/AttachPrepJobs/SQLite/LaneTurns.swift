import AttachPrep
import Synchronization

/// Whose turn it is: of 21 claims 16 go to high, 4 to normal and 1 to bulk, in turns, so that no lane starves.
///
/// A lane that has nothing leaves its turn to the others.
final class LaneTurns: Sendable {
    private static let roundLength = 21
    private let turn = Mutex(0)

    /// Lanes in the order in which they are asked for the next job.
    func next() -> [JobPriority] {
        let turn = turn.withLock { turn in
            defer { turn = (turn + 1) % Self.roundLength }  // Bounded: constants of ours.
            return turn
        }
        let first = Self.first(turn)
        return [first] + [.high, .normal, .bulk].filter { $0 != first }
    }

    /// Pure.
    private static func first(_ turn: Int) -> JobPriority {
        if turn == roundLength - 1 { return .bulk }  // Bounded: constants of ours.
        return turn % 5 == 4 ? .normal : .high
    }
}
