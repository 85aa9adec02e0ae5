import AttachPrep
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs

/// What becomes of a job whose process ended under it, as tables.
struct CrashPolicyTests {
    @Test(arguments: [
        (0, 0, CrashPolicy.Verdict.runs), (0, 1, .runs), (0, 4, .runs), (0, 5, .runsAlone), (0, 20, .runsAlone),
        (0, 21, .lost), (1, 0, .runsAlone), (2, 0, .runsAlone), (2, 20, .runsAlone), (3, 0, .crashed),
        (3, 21, .crashed),
        (.max, .max, .crashed), (.min, .min, .runs),
    ])
    func `Three crashes are the end of a job, kills are counted apart`(
        crashes: Int, losses: Int, expected: CrashPolicy.Verdict
    ) {
        #expect(CrashPolicy.verdict(crashes: crashes, losses: losses) == expected)
    }

    @Test(arguments: [(1, 1_000), (2, 4_000), (3, 0), (.max, 0), (0, 1_000), (.min, 1_000)])
    func `Each crash makes the next wait longer`(crashes: Int, milliseconds: Int64) {
        #expect(CrashPolicy.backOffMilliseconds(crashes: crashes) == milliseconds)
    }

    struct Turn: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var hasAlone = false
        var inFlight = false
        var isAloneDue = true
        var wasAlone = false
        let expected: IsolationDecision
    }

    @Test(arguments: [
        Turn(testDescription: "nobody runs alone", isAloneDue: false, expected: .ordinary),
        Turn(testDescription: "nobody runs alone, others run", inFlight: true, isAloneDue: false, expected: .ordinary),
        Turn(testDescription: "nothing is in flight", expected: .alone),
        Turn(testDescription: "something is in flight", inFlight: true, expected: .wait),
        Turn(testDescription: "one runs alone", hasAlone: true, inFlight: true, expected: .wait),
        Turn(
            testDescription: "one runs alone, and no other is due", hasAlone: true, inFlight: true, isAloneDue: false,
            expected: .wait),
        Turn(testDescription: "the last one ran alone", wasAlone: true, expected: .ordinaryFirst),
    ])
    func `What crashed the process runs alone, and others have their turn in between`(_ turn: Turn) {
        let decision = IsolationDecision(
            hasAlone: turn.hasAlone, inFlight: turn.inFlight, isAloneDue: turn.isAloneDue, wasAlone: turn.wasAlone)
        #expect(decision == turn.expected)
    }

    // MARK: What a process leaves

    @Test(
        arguments: [
            (nil, PreviousExit.orderly, nil), ("ended           \n", .orderly, nil),
            ("ended           \nhost 12\n", .orderly, "host 12"), ("running         \nhost 12\n", .unmarked, "host 12"),
            ("crashed 04      \nhost 12\n", .crashed(signal: 4), "host 12"),
            ("crashed 99999999999999999999", .crashed(signal: 0), nil), ("", .unmarked, nil),
            ("\n\n\n", .unmarked, nil),
            ("anything else", .unmarked, nil),
        ] as [(String?, PreviousExit, String?)])
    func `The first line of the record says how the process ended`(
        text: String?, expected: PreviousExit, worker: String?
    ) {
        let (end, name) = RunRecord.parse(text)
        #expect(end == expected && name == worker)
    }

    @Test func `A record begins as running, names its worker, and says when it ended in order`() throws {
        let folder = try TemporaryFolder()
        let first = RunRecord(folder: folder.path, marksCrashes: false)
        #expect(first.previousExit == .orderly)
        try first.begin()
        first.note(worker: "host 1\nended")
        #expect(RunRecord(folder: folder.path, marksCrashes: false).previousExit == .unmarked)
        #expect(RunRecord(folder: folder.path, marksCrashes: false).previousWorker == "host 1ended")
        first.end()
        #expect(RunRecord(folder: folder.path, marksCrashes: false).previousExit == .orderly)
    }

    // MARK: Others who want the same

    @Test func `A verdict holds for an hour for whoever sends the same, and not for a job that is retried by hand`() {
        let now = Date(timeIntervalSince1970: 1_795_294_262)
        let stored = StoredResult(
            media: .make(), manifest: .rejected(.jobCrashedService), freshness: nil, fetchedAt: now - 60)
        func decision(created: Double, due: Double, now: Date = now) -> ReuseDecision {
            ReuseDecision(stored, dueAt: now + due, createdAt: now + created, isUpload: false, now: now)
        }
        #expect(decision(created: -120, due: -120) == .use(.shared))
        #expect(decision(created: -10, due: -10) == .use(.shared))
        #expect(decision(created: -120, due: -10) == .fetch)
        #expect(decision(created: -10, due: -10, now: now + 3_600) == .fetch)
    }
}
