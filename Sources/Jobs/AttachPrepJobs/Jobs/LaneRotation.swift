package import AttachPrep
import Synchronization

/// The order of lanes for claims: of 21 claims 16 go to high, 4 to normal and 1 to bulk, interleaved so that no lane
/// starves.
///
/// An empty lane passes its claim to the others.
package final class LaneRotation: Sendable {
    private static let roundLength = 21
    private let turn = Mutex(0)

    package init() {}

    /// The lanes in the order in which the next claim tries them.
    package func next() -> [JobPriority] {
        let turn = turn.withLock { turn in
            defer { turn = (turn + 1) % Self.roundLength }
            return turn
        }
        let first = Self.first(turn)
        return [first] + [.high, .normal, .bulk].filter { $0 != first }
    }

    private static func first(_ turn: Int) -> JobPriority {
        if turn == roundLength - 1 { return .bulk }
        return turn % 5 == 4 ? .normal : .high
    }
}
