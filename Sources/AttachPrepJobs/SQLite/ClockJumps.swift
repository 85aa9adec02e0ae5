import GRDB
import RichPush
import Synchronization

/// Sees the wall clock jump back, and lets no job wait for the time to come again that was already there.
final class ClockJumps: Sendable {
    /// Clocks are read one after the other, and are set right by small steps all the time.
    private static let slackMilliseconds: Int64 = 500

    /// What the wall shows beyond the steady clock.
    private let lead: Mutex<Int64>

    init(_ moment: StoreMoment) {
        lead = Mutex(moment.wall - moment.steady)
    }

    /// Called with each claim: nearly always nothing but a comparison.
    func heal(_ database: Database, at moment: StoreMoment) throws {
        let before = lead.withLock { lead in
            defer { lead = moment.wall - moment.steady }
            return lead
        }
        guard moment.wall - moment.steady < before - Self.slackMilliseconds else { return }
        try Self.cut(database, at: moment)
    }

    /// Jobs that do not wait are due; no back-off is longer than the longest one. What a caller named stays.
    static func cut(_ database: Database, at moment: StoreMoment) throws {
        let longest = moment.wall + Int64(Limits.jobBackOffSecondsMax * 1000)
        try database.run(
            "UPDATE job SET due_at = ?1 WHERE state = 'queued' AND wait = 0 AND due_at > ?1", [moment.wall])
        try database.run(
            "UPDATE job SET due_at = ?1 WHERE state = 'queued' AND wait = 1 AND due_at > ?1", [longest])
        let retry = moment.wall + Int64((Limits.webhookScheduleSeconds.max() ?? 0) * 1000)
        try database.run("UPDATE webhook SET next_at = ?1 WHERE state = 'pending' AND next_at > ?1", [retry])
    }
}
