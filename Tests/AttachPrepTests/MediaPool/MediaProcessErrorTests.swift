import AttachPrep
import AttachPrepModel
import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

/// How a call fails when its media process ends, and how the pool recovers.
@Suite(.timeLimit(.minutes(1))) struct MediaProcessErrorTests {
    private func failure(of pool: MediaProcessPool, seconds: Double = 60) async -> AttachPrepError? {
        await #expect(throws: AttachPrepError.self) {
            try await pool.describe(deadline: .now + .seconds(seconds))
        }
    }

    /// Polls until the condition holds; otherwise the suite's time limit ends the test.
    private func until(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test(arguments: ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGKILL"])
    func `A crash fails its own call only, and the next call is answered`(signal: String) async throws {
        let mediaProcess = try ScriptedMediaProcess(
            "receive()\nif starts == 0: die('\(signal)')\nreply(1, described)\npause()")
        try await mediaProcess.withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .mediaDecoderCrashed && error?.isRetryable == true)
            _ = try await pool.describe(deadline: .now + .seconds(60))
        }
    }

    @Test func `A process that exits without an answer counts as crashed`() async throws {
        try await ScriptedMediaProcess("receive()\nsys.exit(0)").withPool { pool in
            #expect(await failure(of: pool)?.code == .mediaDecoderCrashed)
        }
    }

    @Test func `The error names an exceeded processor time`() async throws {
        try await ScriptedMediaProcess("receive()\ndie('SIGXCPU')").withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .mediaTooComplex && error?.isRetryable == false)
            #expect(error?.message.contains("2 s of processor time") == true)
        }
    }

    @Test func `A process that has begun to encode is limited by the deadline only`() async throws {
        let script = "receive()\nreply(1, {'work': {'_0': {'encoding': {}}}})\ndie('SIGXCPU')"
        try await ScriptedMediaProcess(script).withPool { pool in
            #expect(await failure(of: pool)?.code == .deadlineExceeded)
        }
    }

    @Test func `A process terminated from outside fails with a retryable internal error`() async throws {
        try await ScriptedMediaProcess("receive()\ndie('SIGTERM')").withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .internal && error?.isRetryable == true)
        }
    }

    @Test func `A process that exhausts its memory is ended at the limit, which the error names`() async throws {
        let script = "receive()\nhoard = []\nwhile True: hoard.append(bytearray(b'x') * (16 << 20))"
        try await ScriptedMediaProcess(script).withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .mediaDecoderCrashed)
            #expect(error?.message.contains("900 MB") == true)
        }
    }

    @Test func `After a crash the next process starts at once, without waiting for a call`() async throws {
        let mediaProcess = try ScriptedMediaProcess("receive()\ndie('SIGSEGV')")
        try await mediaProcess.withPool { pool in
            _ = await failure(of: pool)
            await until { mediaProcess.processIDs.count == 2 }
        }
    }

    @Test func `A process killed while idle is replaced at once`() async throws {
        let mediaProcess = try ScriptedMediaProcess("receive()\nreply(1, described)\npause()")
        try await mediaProcess.withPool { pool in
            _ = try await pool.describe(deadline: .now + .seconds(60))
            kill(try #require(mediaProcess.processIDs.first), SIGKILL)
            await until { mediaProcess.processIDs.count == 2 }
            _ = try await pool.describe(deadline: .now + .seconds(60))
            #expect(mediaProcess.processIDs.count == 2)
        }
    }

    @Test func `A process that never becomes ready is an internal error, and is not restarted endlessly`()
        async throws
    {
        let mediaProcess = try ScriptedMediaProcess("die('SIGSEGV')", isReady: false)
        try await mediaProcess.withPool { pool in
            pool.warmUp()
            await until { mediaProcess.processIDs.count == 1 }
            let error = await failure(of: pool)
            #expect(
                error?.code == .internal && error?.isRetryable == false && error?.message.contains("doctor") == true)
            #expect(mediaProcess.processIDs.count <= 2)
        }
    }

    @Test(arguments: ["SIGKILL", "SIGTERM"])
    func `A process that is killed while starting, as for want of memory, can be tried again`(signal: String)
        async throws
    {
        try await ScriptedMediaProcess("die('\(signal)')", isReady: false).withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .internal && error?.isRetryable == true)
        }
    }

    @Test func `A call whose process ends while starting goes to the next process`() async throws {
        let script = """
            if starts == 1: sys.exit(1)
            reply(0, ready)
            receive()
            if starts == 0: die('SIGSEGV')
            reply(1, described)
            pause()
            """
        let mediaProcess = try ScriptedMediaProcess(script, isReady: false)
        try await mediaProcess.withPool { pool in
            _ = await failure(of: pool)
            _ = try await pool.describe(deadline: .now + .seconds(60))
            #expect(mediaProcess.processIDs.count == 3)
        }
    }

    @Test func `A hanging process is ended at the deadline`() async throws {
        let mediaProcess = try ScriptedMediaProcess("receive()\nif starts == 0: pause()\nreply(1, described)\npause()")
        try await mediaProcess.withPool { pool in
            #expect(await failure(of: pool, seconds: 1)?.code == .deadlineExceeded)
            _ = try await pool.describe(deadline: .now + .seconds(60))
        }
    }

    @Test func `No process is left after a shutdown, replacements included`() async throws {
        let mediaProcess = try ScriptedMediaProcess("receive()\ndie('SIGSEGV')")
        try await mediaProcess.withPool(slots: 2) { pool in
            await withTaskGroup { group in
                for _ in 0..<6 { group.addTask { _ = try? await pool.describe(deadline: .now + .seconds(60)) } }
            }
        }
        #expect(mediaProcess.processIDs.count >= 6)
        #expect(mediaProcess.processIDs.allSatisfy { kill($0, 0) != 0 })
    }
}
