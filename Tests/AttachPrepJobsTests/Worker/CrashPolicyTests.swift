import AttachPrep
import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrepJobs

/// Decisions about jobs whose process ended, as tables.
struct CrashPolicyTests {
    @Test(arguments: [
        (0, 0, CrashPolicy.CrashDecision.runs), (0, 1, .runs), (0, 4, .runs), (0, 5, .runsAlone), (0, 20, .runsAlone),
        (0, 21, .lost), (1, 0, .runsAlone), (2, 0, .runsAlone), (2, 20, .runsAlone), (3, 0, .crashed),
        (3, 21, .crashed),
        (.max, .max, .crashed), (.min, .min, .runs),
    ])
    func `A job ends after three crashes, and kills are counted separately`(
        crashes: Int, losses: Int, expected: CrashPolicy.CrashDecision
    ) {
        #expect(CrashPolicy.decision(crashes: crashes, losses: losses) == expected)
    }

    @Test(arguments: [(1, 1_000), (2, 4_000), (3, 0), (.max, 0), (0, 1_000), (.min, 1_000)])
    func `The delay grows with each crash`(crashes: Int, milliseconds: Int64) {
        #expect(CrashPolicy.backOffMilliseconds(crashes: crashes) == milliseconds)
    }

    struct ClaimSituation: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var hasAlone = false
        var inFlight = false
        var isAloneDue = true
        var wasAlone = false
        let expected: IsolationDecision
    }

    @Test(arguments: [
        ClaimSituation(testDescription: "no job has to run alone", isAloneDue: false, expected: .ordinary),
        ClaimSituation(
            testDescription: "no job has to run alone, others run", inFlight: true, isAloneDue: false,
            expected: .ordinary),
        ClaimSituation(testDescription: "nothing is in flight", expected: .alone),
        ClaimSituation(testDescription: "a job is in flight", inFlight: true, expected: .wait),
        ClaimSituation(testDescription: "a job runs alone", hasAlone: true, inFlight: true, expected: .wait),
        ClaimSituation(
            testDescription: "a job runs alone, and no other is due", hasAlone: true, inFlight: true, isAloneDue: false,
            expected: .wait),
        ClaimSituation(testDescription: "the last job ran alone", wasAlone: true, expected: .ordinaryFirst),
    ])
    func `Suspects of a crash run alone, with other jobs in between`(_ situation: ClaimSituation) {
        let decision = IsolationDecision(
            hasAlone: situation.hasAlone, inFlight: situation.inFlight, isAloneDue: situation.isAloneDue,
            wasAlone: situation.wasAlone)
        #expect(decision == situation.expected)
    }

    // MARK: Run record

    @Test(
        arguments: [
            (nil, PreviousExit.orderly, nil), ("ended           \n", .orderly, nil),
            ("ended           \nhost 12\n", .orderly, "host 12"), ("running         \nhost 12\n", .unmarked, "host 12"),
            ("crashed 04      \nhost 12\n", .crashed(signal: 4), "host 12"),
            ("crashed 99999999999999999999", .crashed(signal: 0), nil), ("", .unmarked, nil),
            ("\n\n\n", .unmarked, nil),
            ("anything else", .unmarked, nil),
        ] as [(String?, PreviousExit, String?)])
    func `The first line of the run record shows how the process ended`(
        text: String?, expected: PreviousExit, worker: String?
    ) {
        let (end, name) = RunRecord.parse(text)
        #expect(end == expected && name == worker)
    }

    @Test func `A run record shows a running process, its worker's name and an orderly end`() throws {
        let folder = try TemporaryFolder()
        let first = RunRecord(folder: folder.path, marksCrashes: false)
        #expect(first.previousExit == .orderly)
        try first.begin()
        first.record(worker: "host 1\nended")
        #expect(RunRecord(folder: folder.path, marksCrashes: false).previousExit == .unmarked)
        #expect(RunRecord(folder: folder.path, marksCrashes: false).previousWorker == "host 1ended")
        first.end()
        #expect(RunRecord(folder: folder.path, marksCrashes: false).previousExit == .orderly)
    }

    // MARK: Other jobs for the same work

    @Test func `A crash result is reused for an hour by new jobs, not by a job that is retried manually`() {
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
