import Glibc
import Linux
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep

/// When and how a working media process is replaced.
@Suite(.timeLimit(.minutes(1))) struct MediaProcessRecyclingTests {
    private struct Case: Sendable {
        var calls = 1
        var ageSeconds = 1.0
        var megabytes: Int? = 60
        let expected: MediaProcessRecycling
    }

    @Test(arguments: [
        Case(expected: .none), Case(calls: 1_999, expected: .none), Case(calls: 2_000, expected: .whenSuccessorReady),
        Case(ageSeconds: 3_599, expected: .none), Case(ageSeconds: 3_600, expected: .whenSuccessorReady),
        Case(megabytes: 250, expected: .none), Case(megabytes: 251, expected: .immediately),
        Case(calls: 2_000, megabytes: 800, expected: .immediately), Case(megabytes: nil, expected: .none),
    ]) private func `Recycling depends on calls, age and memory`(of mediaProcess: Case) {
        let decision = MediaProcessRecycling(
            calls: mediaProcess.calls, age: .seconds(mediaProcess.ageSeconds),
            residentBytes: mediaProcess.megabytes.map { $0 * 1_000_000 })
        #expect(decision == mediaProcess.expected)
    }

    private static let answering = "while True: reply(receive()['number'], described)"

    @Test func `A process at its call limit is replaced once its successor is ready`() async throws {
        let mediaProcess = try ScriptedMediaProcess(Self.answering)
        try await mediaProcess.withPool { pool in
            for _ in 0..<Limits.mediaProcessCallsMax { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            // Calls are answered throughout; the first process exits once its successor is ready.
            let first = try #require(mediaProcess.processIDs.first)
            while kill(first, 0) == 0 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            _ = try await pool.describe(deadline: .now + .seconds(60))
            #expect(mediaProcess.processIDs.count == 2)
        }
    }

    @Test func `A process that keeps memory is replaced before the next call`() async throws {
        let hoarding = "hoard = bytearray(b'x') * (300 << 20) if starts == 0 else 0\n"
        let mediaProcess = try ScriptedMediaProcess(hoarding + Self.answering)
        try await mediaProcess.withPool { pool in
            for _ in 0..<2 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            let first = try #require(mediaProcess.processIDs.first)
            #expect(mediaProcess.processIDs.count == 2 && kill(first, 0) != 0)
        }
    }

    @Test func `As many processes start as requests are expected, up to one more than the slots`() async throws {
        for (requests, processes) in [(1, 1), (2, 2), (100, 3)] {
            let mediaProcess = try ScriptedMediaProcess("pause()")
            try await mediaProcess.withPool(slots: 2) { pool in
                pool.warmUp(requests: requests)
                while mediaProcess.processIDs.count < processes { await Task.yield() }
            }
            #expect(mediaProcess.processIDs.count == processes)
        }
    }
}

/// Counts of replaced media processes, and their niceness.
@Suite(.timeLimit(.minutes(1))) struct MediaProcessCountTests {
    @Test func `A crashed media process is counted as failed`() async throws {
        let mediaProcess = try ScriptedMediaProcess(
            "receive()\nif starts == 0: die('SIGSEGV')\nreply(1, described)\npause()")
        try await mediaProcess.withPool { pool in
            #expect(pool.replacements == MediaProcessReplacements())
            _ = try? await pool.describe(deadline: .now + .seconds(60))
            #expect(pool.replacements == MediaProcessReplacements(failed: 1, recycled: 0))
            #expect(pool.failures == [.crash: 1])
        }
    }

    @Test func `The cause of a failure is counted`() {
        let cases: [(MediaProcessError, ChildProcess.Ending, MediaProcessFailure)] = [
            (.deadlineExceeded, .killed(signal: SIGKILL), .deadline),
            (.memoryLimitExceeded(1), .killed(signal: SIGKILL), .memory),
            (.invalidAnswer("?"), .killed(signal: SIGKILL), .invalidAnswer),
            (.unreachable("?"), .killed(signal: SIGKILL), .external),
            (.connectionClosed, .killed(signal: SIGXCPU), .processor),
            (.connectionClosed, .killed(signal: SIGSYS), .sandbox),
            (.connectionClosed, .killed(signal: SIGTERM), .external),
            (.connectionClosed, .killed(signal: SIGSEGV), .crash),
            (.connectionClosed, .exited(code: 0), .crash),
        ]
        for (error, ending, cause) in cases {
            #expect(MediaProcessFailure(error, ending, isReady: true) == cause, "\(error) \(ending)")
        }
        let starting = { MediaProcessFailure(.connectionClosed, $0, isReady: false) }
        #expect(starting(.killed(signal: SIGSEGV)) == .start)
        #expect(starting(.exited(code: MediaProcessExit.sandboxUnavailable)) == .sandboxUnavailable)
    }

    @Test func `A process without its required sandbox is counted as such`() async throws {
        let mediaProcess = try ScriptedMediaProcess("sys.exit(77)", isReady: false)
        try await mediaProcess.withPool { pool in
            _ = try? await pool.describe(deadline: .now + .seconds(60))
            #expect(pool.failures == [.sandboxUnavailable: 1])
        }
    }

    @Test func `Memory is that of running processes, processor time also that of ended ones`() async throws {
        let busy = "import time\nwhile time.process_time() < 0.3: pass\nreply(receive()['number'], described)\npause()"
        let mediaProcess = try ScriptedMediaProcess(busy)
        let pool = try MediaProcessPool(executable: mediaProcess.path, mediaSlots: 1)
        #expect(pool.usage.processes == 0)
        _ = try await pool.describe(deadline: .now + .seconds(60))
        let running = pool.usage
        #expect(running.processes == 1 && running.residentBytes > 1_000_000 && running.processorSeconds >= 0.3)
        await pool.shutdown()
        let ended = pool.usage
        #expect(ended.processes == 0 && ended.residentBytes == 0)
        #expect(ended.processorSeconds >= running.processorSeconds)
    }

    @Test func `A recycled media process is counted as recycled`() async throws {
        let hoarding = "hoard = bytearray(b'x') * (300 << 20) if starts == 0 else 0\n"
        let mediaProcess = try ScriptedMediaProcess(hoarding + "while True: reply(receive()['number'], described)")
        try await mediaProcess.withPool { pool in
            for _ in 0..<2 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            #expect(pool.replacements == MediaProcessReplacements(failed: 0, recycled: 1))
        }
    }

    @Test(arguments: [0, 5]) func `Media processes run at the configured niceness`(niceness: Int) async throws {
        let own = getpriority(CInt(PRIO_PROCESS.rawValue), 0)
        let mediaProcess = try ScriptedMediaProcess("while True: reply(receive()['number'], described)")
        let pool = try MediaProcessPool(executable: mediaProcess.path, mediaSlots: 1, niceness: niceness)
        _ = try await pool.describe(deadline: .now + .seconds(60))
        let process = try #require(mediaProcess.processIDs.first)
        let expected = niceness == 0 ? own : CInt(niceness)
        #expect(getpriority(CInt(PRIO_PROCESS.rawValue), id_t(process)) == expected)
        await pool.shutdown()
    }
}
