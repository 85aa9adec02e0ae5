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
            defer { turn = (turn + 1) % Self.roundLength }  // Bounded: constants.
            return turn
        }
        let first = Self.first(turn)
        return [first] + [.high, .normal, .bulk].filter { $0 != first }
    }

    private static func first(_ turn: Int) -> JobPriority {
        if turn == roundLength - 1 { return .bulk }  // Bounded: constants.
        return turn % 5 == 4 ? .normal : .high
    }
}

/// Decides whether a claim takes an ordinary job or one that must run alone.
package enum IsolationDecision: Sendable, Hashable {
    /// Claim ordinary jobs.
    case ordinary
    /// Claim ordinary jobs; when there are none, one that runs alone.
    case ordinaryFirst
    /// Claim one job that runs alone.
    case alone
    /// Claim nothing until the jobs in flight have ended.
    case wait

    /// - Parameters:
    ///   - hasAlone: whether a job that runs alone is in flight.
    ///   - inFlight: whether any job is in flight.
    ///   - isAloneDue: whether a job that runs alone is due.
    ///   - wasAlone: whether the last claimed job ran alone; ordinary jobs then go first.
    package init(hasAlone: Bool, inFlight: Bool, isAloneDue: Bool, wasAlone: Bool) {
        if hasAlone {
            self = .wait
        } else if !isAloneDue {
            self = .ordinary
        } else if inFlight {
            self = .wait
        } else {
            self = wasAlone ? .ordinaryFirst : .alone
        }
    }
}

/// Whether the last claimed job runs alone; ordinary jobs then go first.
package final class IsolationState: Sendable {
    private let state = Mutex(false)

    package init() {}

    package var wasAlone: Bool { state.withLock(\.self) }

    package func record(alone: Bool) { state.withLock { $0 = alone } }
}
