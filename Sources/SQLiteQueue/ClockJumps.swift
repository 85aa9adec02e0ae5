package import AttachPrepJobs
import FoundationEssentials
package import GRDB
import RichPush
import SafeArithmetic
import Synchronization

/// Adjusts stored wait times when the wall clock is stepped: they are stored in wall time but have to follow the boot
/// clock. Times that a caller set (`notBefore`) are not changed.
package final class ClockJumps: Sendable {
    /// Tolerance in milliseconds: the two clocks are read one after the other, and NTP adjusts the wall clock in small
    /// steps.
    private static let slackMilliseconds: Int64 = 500

    /// Wall time minus boot time at the last check, in milliseconds.
    private let lead: Mutex<Int64>

    package init(_ moment: StoreMoment) {
        lead = Mutex(moment.lead)
    }

    /// Moves the waits when the wall clock was stepped since the last call; usually only a comparison. Called before
    /// each query for what is due.
    package func adjust(_ moment: StoreMoment, in commits: GroupCommit) async throws {
        guard Self.isJump(from: lead.withLock(\.self), to: moment.lead) else { return }
        try await commits.write { database, _ in try Self.adjust(database, at: moment) }
        lead.withLock { $0 = moment.lead }
    }

    private static func isJump(from previous: Int64, to lead: Int64) -> Bool {
        lead.subtracting(clamping: previous).magnitude > UInt64(slackMilliseconds)
    }

    // MARK: Adjusting waits

    /// Moves waits by the clock step since the last stored offset, and cuts waits that are longer than any wait can be:
    /// a wrong clock wrote them.
    ///
    /// The offset is stored in the database together with the waits, so that only one of several processes moves them.
    package static func adjust(_ database: Database, at moment: StoreMoment) throws {
        let previous = try previousLead(database, of: moment)
        if let previous, isJump(from: previous, to: moment.lead) {
            try shiftWaits(database, by: moment.lead.subtracting(clamping: previous))
        }
        if previous != moment.lead { try keepLead(database, of: moment) }
        try capWaits(database, at: moment)
    }

    private static func shiftWaits(_ database: Database, by shift: Int64) throws {
        // SQLite converts a sum beyond 64 bits to floating point; such dates are not written by attachprep.
        try database.run(
            """
            UPDATE job SET due_at = CAST(due_at + ?1 AS INTEGER)
            WHERE state = 'queued' AND wait = \(JobWait.backOff.rawValue)
            """, [shift])
        try database.run(
            "UPDATE webhook SET next_at = CAST(next_at + ?1 AS INTEGER) WHERE state = 'pending'", [shift])
    }

    /// Jobs without a wait are due now, and no back-off is longer than the maximum.
    private static func capWaits(_ database: Database, at moment: StoreMoment) throws {
        let longest = moment.wall.adding(clamping: Duration.seconds(Limits.jobBackOffSecondsMax).milliseconds)
        try database.run(
            """
            UPDATE job SET due_at = ?1 WHERE state = 'queued' AND wait = \(JobWait.none.rawValue) AND due_at > ?1
            """, [moment.wall])
        try database.run(
            """
            UPDATE job SET due_at = ?1 WHERE state = 'queued' AND wait = \(JobWait.backOff.rawValue) AND due_at > ?1
            """, [longest])
        for tries in 0..<WebhookSchedule().stepsSeconds.count {
            let wait = WebhookWait(tries: tries)
            try database.run(
                "UPDATE webhook SET next_at = ?1 WHERE state = 'pending' AND attempts = ?2 AND next_at > ?3",
                [wait.usualEnd(at: moment.wall), tries, wait.longestEnd(at: moment.wall)])
        }
    }

    // MARK: Stored clock offset

    private static let (leadName, bootName) = ("clockLead", "clockBoot")

    /// Nil after a restart of the machine: offsets of different boots cannot be compared.
    private static func previousLead(_ database: Database, of moment: StoreMoment) throws -> Int64? {
        let boot = try database.number("SELECT number FROM tally WHERE name = ?", [bootName])
        guard boot == moment.bootNumber else { return nil }
        return try database.number("SELECT number FROM tally WHERE name = ?", [leadName])
    }

    private static func keepLead(_ database: Database, of moment: StoreMoment) throws {
        for (name, number) in [(bootName, moment.bootNumber), (leadName, moment.lead)] {
            try database.run("INSERT OR REPLACE INTO tally VALUES (?, ?)", [name, number])
        }
    }
}

/// The longest waits of a webhook after a number of attempts, in milliseconds.
package struct WebhookWait: Sendable, Hashable {
    /// According to the schedule.
    package var usual: Int64
    /// With the longest `Retry-After` of the receiver.
    package var longest: Int64

    package init(tries: Int, schedule: WebhookSchedule = WebhookSchedule()) {
        let most = schedule.delay(afterTries: tries, retryAfter: .longest, chance: 1)
        usual =
            Duration.seconds(clamping: schedule.delay(afterTries: tries, retryAfter: nil, chance: 1) ?? 0)
            .milliseconds
        // The first attempt is due at once.
        longest = tries == 0 ? usual : Duration.seconds(clamping: most ?? 0).milliseconds
    }

    package func usualEnd(at wall: Int64) -> Int64 { wall.adding(clamping: usual) }
    package func longestEnd(at wall: Int64) -> Int64 { wall.adding(clamping: longest) }

    /// Returns the next attempt; one later than any wait was written by a wrong clock and is moved to the schedule.
    package func end(_ nextAt: Int64, at wall: Int64) -> Int64 {
        nextAt > longestEnd(at: wall) ? usualEnd(at: wall) : nextAt
    }
}

extension StoreMoment {
    /// Wall time minus boot time, in milliseconds.
    var lead: Int64 { wall.subtracting(clamping: steady) }

    /// Identifies the boot: the first 60 bits of the boot id.
    fileprivate var bootNumber: Int64 {
        let digits = bootID.utf8.filter { $0 != UInt8(ascii: "-") }.prefix(15)
        return Int64(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
    }
}
