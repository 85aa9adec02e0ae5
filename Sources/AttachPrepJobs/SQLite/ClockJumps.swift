import GRDB
import RichPush
import SafeArithmetic
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Keeps the store's own waits on the boot clock, although their ends are written in wall time: when the wall clock is
/// stepped, they are moved with it. A time that a caller named stays what it is.
final class ClockJumps: Sendable {
    /// Clocks are read one after the other, and are set right by small steps all the time.
    private static let slackMilliseconds: Int64 = 500

    /// Wall time minus boot time, at the last look.
    private let lead: Mutex<Int64>

    init(_ moment: StoreMoment) {
        lead = Mutex(moment.lead)
    }

    /// Moves the waits when the wall clock was stepped since the last moment that was given: nearly always only a
    /// comparison. Called before each look at what is due.
    func follow(_ moment: StoreMoment, in commits: GroupCommit) async throws {
        guard Self.isJump(from: lead.withLock(\.self), to: moment.lead) else { return }
        try await commits.write { database, _ in try Self.follow(database, at: moment) }
        lead.withLock { $0 = moment.lead }
    }

    private static func isJump(from former: Int64, to lead: Int64) -> Bool {
        lead.subtracting(clamping: former).magnitude > UInt64(slackMilliseconds)  // Bounded: a constant.
    }

    // MARK: What follows from a step

    /// Moves waits by what the clock was stepped since the database was last told of it, and cuts those that are longer
    /// than any wait: they were written by a clock that was wrong.
    ///
    /// How far the wall is ahead is kept in the database, with the waits: of several who see a step, one moves them.
    static func follow(_ database: Database, at moment: StoreMoment) throws {
        let former = try formerLead(database, of: moment)
        if let former, isJump(from: former, to: moment.lead) {
            try move(database, by: moment.lead.subtracting(clamping: former))
        }
        if former != moment.lead { try keepLead(database, of: moment) }
        try cut(database, at: moment)
    }

    private static func move(_ database: Database, by shift: Int64) throws {
        // A sum that passes 64 bits is a floating-point number for SQLite; such a date is none of ours.
        try database.run(
            """
            UPDATE job SET due_at = CAST(due_at + ?1 AS INTEGER)
            WHERE state = 'queued' AND wait = \(JobWait.backOff.rawValue)
            """, [shift])
        try database.run(
            "UPDATE webhook SET next_at = CAST(next_at + ?1 AS INTEGER) WHERE state = 'pending'", [shift])
    }

    /// Jobs that do not wait are due, and no back-off is longer than the longest one.
    private static func cut(_ database: Database, at moment: StoreMoment) throws {
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

    // MARK: How far the wall is ahead

    private static let (leadName, bootName) = ("clockLead", "clockBoot")

    /// Nil when the machine was started anew: then there is nothing to compare with.
    private static func formerLead(_ database: Database, of moment: StoreMoment) throws -> Int64? {
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

/// How long a webhook may have to wait after so many tries, in milliseconds.
struct WebhookWait: Sendable, Hashable {
    /// As the schedule has it.
    var usual: Int64
    /// With what the receiver may ask for.
    var longest: Int64

    init(tries: Int, schedule: WebhookSchedule = WebhookSchedule()) {
        let most = schedule.delay(afterTries: tries, retryAfter: .longest, chance: 1)
        usual =
            Duration.seconds(clamping: schedule.delay(afterTries: tries, retryAfter: nil, chance: 1) ?? 0)
            .milliseconds
        // The first try is due at once.
        longest = tries == 0 ? usual : Duration.seconds(clamping: most ?? 0).milliseconds
    }

    func usualEnd(at wall: Int64) -> Int64 { wall.adding(clamping: usual) }
    func longestEnd(at wall: Int64) -> Int64 { wall.adding(clamping: longest) }

    /// A next try that is later than any wait was written by a clock that was wrong.
    func end(_ nextAt: Int64, at wall: Int64) -> Int64 {
        nextAt > longestEnd(at: wall) ? usualEnd(at: wall) : nextAt
    }
}

extension StoreMoment {
    /// Wall time minus boot time, in milliseconds.
    var lead: Int64 { wall.subtracting(clamping: steady) }

    /// Of the start of the machine, to compare with: the first 60 bits of what names it.
    fileprivate var bootNumber: Int64 {
        let digits = bootID.utf8.filter { $0 != UInt8(ascii: "-") }.prefix(15)
        return Int64(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
    }
}
