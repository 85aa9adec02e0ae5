import AttachPrepJobs
import FoundationEssentials
import MediaTypes
import SafeArithmetic
import Synchronization

/// Adjusts stored wait times when the wall clock is stepped: they are stored in wall time but have to follow the boot
/// clock. Times that a caller set (`notBefore`) are not changed.
final class ClockJumps: Sendable {
    /// Tolerance in milliseconds: the two clocks are read one after the other, and NTP adjusts the wall clock in small
    /// steps.
    private static let slackMilliseconds: Int64 = 500

    /// Wall time minus boot time at the last check, in milliseconds.
    private let lead: Mutex<Int64>

    init(_ moment: StoreMoment) {
        lead = Mutex(moment.lead)
    }

    /// Moves the waits when the wall clock was stepped since the last call; usually only a comparison. Called before
    /// each query for what is due.
    /// A shared database has a clock of its own, by which both waits and leases end.
    func adjust(_ moment: StoreMoment, of store: SQLJobStore) async throws {
        guard store.database.dialect == .sqlite, Self.isJump(from: lead.withLock(\.self), to: moment.lead) else {
            return
        }
        try await store.write { try Self.adjust($0, at: moment) }
        lead.withLock { $0 = moment.lead }
    }

    /// Moves the waits when the clock was stepped since an earlier process has looked.
    func recover(_ store: SQLJobStore) async throws {
        let moment = store.clock.now()
        try await store.write { try Self.adjust($0, at: moment) }
    }

    private static func isJump(from previous: Int64, to lead: Int64) -> Bool {
        lead.subtracting(clamping: previous).magnitude > UInt64(slackMilliseconds)
    }

    // MARK: Adjusting waits

    /// Moves waits by the clock step since the last stored offset, and cuts waits that are longer than any wait can be:
    /// a wrong clock wrote them.
    ///
    /// The offset is stored in the database together with the waits, so that only one of several processes moves them.
    static func adjust(_ transaction: StoreTransaction, at moment: StoreMoment) throws {
        let previous = try previousLead(transaction, of: moment)
        if let previous, isJump(from: previous, to: moment.lead) {
            try shiftWaits(transaction, by: moment.lead.subtracting(clamping: previous))
        }
        // The places where claims ended are times too.
        transaction.later("UPDATE claim_state SET high_floor = 0, normal_floor = 0, bulk_floor = 0")
        if previous != moment.lead { try keepLead(transaction, of: moment) }
        try capWaits(transaction, at: moment)
    }

    private static func shiftWaits(_ transaction: StoreTransaction, by shift: Int64) throws {
        // SQLite converts a sum beyond 64 bits to floating point; such dates are not written by attachprep.
        try transaction.run(
            """
            UPDATE job SET due_at = CAST(due_at + $1 AS INTEGER), place = CAST(place + $1 AS INTEGER)
            WHERE state = 'queued' AND wait = \(JobWait.backOff.rawValue)
            """, [.integer(shift)])
        try transaction.run(
            "UPDATE webhook SET next_at = CAST(next_at + $1 AS INTEGER) WHERE state = 'pending'", [.integer(shift)])
    }

    /// Jobs without a wait are due now, and no back-off is longer than the maximum.
    private static func capWaits(_ transaction: StoreTransaction, at moment: StoreMoment) throws {
        let longest = moment.wall.adding(clamping: Duration.seconds(Limits.jobBackOffSecondsMax).milliseconds)
        try transaction.run(
            """
            UPDATE job SET due_at = $1, place = $1
            WHERE state = 'queued' AND wait = \(JobWait.none.rawValue) AND place > $1
            """, [.integer(moment.wall)])
        try transaction.run(
            """
            UPDATE job SET due_at = $1, place = $1
            WHERE state = 'queued' AND wait = \(JobWait.backOff.rawValue) AND place > $1
            """, [.integer(longest)])
        for tries in 0..<WebhookSchedule().stepsSeconds.count {
            let wait = WebhookWait(tries: tries)
            try transaction.run(
                "UPDATE webhook SET next_at = $1 WHERE state = 'pending' AND attempts = $2 AND next_at > $3",
                [
                    .integer(wait.usualEnd(at: moment.wall)), .integer(Int64(tries)),
                    .integer(wait.longestEnd(at: moment.wall)),
                ])
        }
    }

    // MARK: Stored clock offset

    private static let (leadName, bootName) = ("clockLead", "clockBoot")

    /// Nil after a restart of the machine: offsets of different boots cannot be compared.
    private static func previousLead(_ transaction: StoreTransaction, of moment: StoreMoment) throws -> Int64? {
        let rows = try transaction.run(
            [bootName, leadName].map {
                SQLStatement("SELECT value FROM setting WHERE name = $1", [.text($0)])
            })
        let values = rows.map { ($0.rows.first?[0] as String?).flatMap { Int64($0) } }
        return values[0] == moment.bootNumber ? values[1] : nil
    }

    private static func keepLead(_ transaction: StoreTransaction, of moment: StoreMoment) throws {
        for (name, number) in [(bootName, moment.bootNumber), (leadName, moment.lead)] {
            transaction.later(
                """
                INSERT INTO setting (name, value) VALUES ($1, $2)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value
                """, [.text(name), .text("\(number)")])
        }
    }
}

/// The longest waits of a webhook after a number of attempts, in milliseconds.
struct WebhookWait: Sendable, Hashable {
    /// According to the schedule.
    var usual: Int64
    /// With the longest `Retry-After` of the receiver.
    var longest: Int64

    init(tries: Int, schedule: WebhookSchedule = WebhookSchedule()) {
        let most = schedule.delay(afterTries: tries, retryAfter: .longest, chance: 1)
        usual =
            Duration.seconds(clamping: schedule.delay(afterTries: tries, retryAfter: nil, chance: 1) ?? 0)
            .milliseconds
        // The first attempt is due at once.
        longest = tries == 0 ? usual : Duration.seconds(clamping: most ?? 0).milliseconds
    }

    func usualEnd(at wall: Int64) -> Int64 { wall.adding(clamping: usual) }
    func longestEnd(at wall: Int64) -> Int64 { wall.adding(clamping: longest) }
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
