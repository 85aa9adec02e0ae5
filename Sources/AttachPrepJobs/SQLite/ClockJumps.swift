import GRDB
import RichPush
import SafeArithmetic
import Synchronization

/// Sees the wall clock jump back, and lets no job wait for the time to come again that was already there.
final class ClockJumps: Sendable {
    /// Clocks are read one after the other, and are set right by small steps all the time.
    private static let slackMilliseconds: Int64 = 500

    /// What the wall shows beyond the steady clock.
    private let lead: Mutex<Int64>

    init(_ moment: StoreMoment) {
        lead = Mutex(moment.wall.subtracting(clamping: moment.steady))
    }

    /// Whether it has jumped back since the last moment that was noted: nearly always nothing but a comparison.
    func isBehind(_ moment: StoreMoment) -> Bool {
        // Bounded: a clock of this machine, less or more than a limit.
        moment.wall.subtracting(clamping: moment.steady) < lead.withLock(\.self) - Self.slackMilliseconds
    }

    /// Called when what followed from a jump is kept.
    func note(_ moment: StoreMoment) {
        lead.withLock { $0 = moment.wall.subtracting(clamping: moment.steady) }
    }

    /// Jobs that do not wait are due; no back-off is longer than the longest one. What a caller named stays.
    static func cut(_ database: Database, at moment: StoreMoment) throws {
        // Bounded: a clock of this machine, less or more than a limit.
        let longest = moment.wall + Int64(Limits.jobBackOffSecondsMax * 1000)
        try database.run(
            "UPDATE job SET due_at = ?1 WHERE state = 'queued' AND wait = 0 AND due_at > ?1", [moment.wall])
        try database.run(
            "UPDATE job SET due_at = ?1 WHERE state = 'queued' AND wait = 1 AND due_at > ?1", [longest])
        // Bounded: a clock of this machine, less or more than a limit.
        let retry = moment.wall + Int64((Limits.webhookScheduleSeconds.max() ?? 0) * 1000)
        try database.run("UPDATE webhook SET next_at = ?1 WHERE state = 'pending' AND next_at > ?1", [retry])
    }
}
