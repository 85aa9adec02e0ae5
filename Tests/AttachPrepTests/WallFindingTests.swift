import Glibc
import Linux
import MediaEngine
import Testing

@testable import AttachPrep

/// How the end of a process that tried to get out is read.
struct WallFindingTests {
    struct Case: Sendable {
        let attempt: EscapeKind
        let ending: ChildProcess.Ending
        let holds: Bool
    }

    static let cases = [
        Case(attempt: .readFile, ending: .exited(code: MediaChildExit.attemptBlocked), holds: true),
        Case(attempt: .readFile, ending: .exited(code: MediaChildExit.attemptSucceeded), holds: false),
        Case(attempt: .readFile, ending: .exited(code: MediaChildExit.sandboxUnavailable), holds: false),
        Case(attempt: .readFile, ending: .killed(signal: SIGSYS), holds: false),
        Case(attempt: .readFile, ending: .killed(signal: SIGSEGV), holds: false),
        Case(attempt: .execute, ending: .killed(signal: SIGSYS), holds: true),
        Case(attempt: .execute, ending: .exited(code: 0), holds: false),
        Case(attempt: .execute, ending: .exited(code: 1), holds: false),
        Case(attempt: .spin, ending: .killed(signal: SIGXCPU), holds: true),
        Case(attempt: .spin, ending: .exited(code: MediaChildExit.attemptSucceeded), holds: false),
        Case(attempt: .outliveParent, ending: .killed(signal: SIGKILL), holds: true),
        Case(attempt: .outliveParent, ending: .exited(code: MediaChildExit.attemptSucceeded), holds: false),
        Case(attempt: .allocate, ending: .killed(signal: SIGKILL), holds: false),
    ]

    @Test(arguments: cases) func `An attempt is stopped only by its own wall`(row: Case) {
        let finding = SandboxCheckResult(row.attempt, ending: row.ending)
        #expect(finding.holds == row.holds, "\(finding.how)")
        #expect(finding.wall == row.attempt.wall)
    }

    @Test func `Every wall is tried`() {
        #expect(Set(EscapeKind.allCases.map(\.wall)) == Set(SandboxLayer.allCases))
    }
}
