import AttachPrep
import Foundation
import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

/// What becomes of a call whose child dies, and of the pool behind it.
@Suite(.timeLimit(.minutes(1))) struct ChildFailureTests {
    private func failure(of pool: MediaProcessPool, seconds: Double = 60) async -> AttachPrepError? {
        await #expect(throws: AttachPrepError.self) {
            try await pool.describe(deadline: .now + .seconds(seconds))
        }
    }

    /// Looks until a fact is there; the suite's limit is the end of it.
    private func until(_ isSo: () -> Bool) async {
        while !isSo() { await Task.yield() }
    }

    @Test(arguments: ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGKILL"])
    func `A crash costs its call, and the next one is answered`(signal: String) async throws {
        let child = try ScriptedChild(
            "hear()\nif starts == 0: die('\(signal)')\nsay(1, described)\npause()")
        try await child.withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .mediaDecoderCrashed && error?.isRetryable == true)
            _ = try await pool.describe(deadline: .now + .seconds(60))
        }
    }

    @Test func `A child that leaves without an answer crashed as well`() async throws {
        try await ScriptedChild("hear()\nsys.exit(0)").withPool { pool in
            #expect(await failure(of: pool)?.code == .mediaDecoderCrashed)
        }
    }

    @Test func `Used up processor time is said`() async throws {
        try await ScriptedChild("hear()\ndie('SIGXCPU')").withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .mediaDecoderCrashed && error?.message.contains("processor time") == true)
        }
    }

    @Test func `An end from outside is nobody's fault`() async throws {
        try await ScriptedChild("hear()\ndie('SIGTERM')").withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .internal && error?.isRetryable == true)
        }
    }

    @Test func `One that eats memory is ended at the limit, which is said`() async throws {
        let eater = "hear()\nhoard = []\nwhile True: hoard.append(bytearray(b'x') * (16 << 20))"
        try await ScriptedChild(eater).withPool { pool in
            let error = await failure(of: pool)
            #expect(error?.code == .mediaDecoderCrashed)
            #expect(error?.message.contains("900 MB") == true)
        }
    }

    @Test func `After a death the next child starts at once, not with the next call`() async throws {
        let child = try ScriptedChild("hear()\ndie('SIGSEGV')")
        try await child.withPool { pool in
            _ = await failure(of: pool)
            await until { child.processIDs.count == 2 }
        }
    }

    @Test func `A child killed while it was idle is replaced at once`() async throws {
        let child = try ScriptedChild("hear()\nsay(1, described)\npause()")
        try await child.withPool { pool in
            _ = try await pool.describe(deadline: .now + .seconds(60))
            kill(try #require(child.processIDs.first), SIGKILL)
            await until { child.processIDs.count == 2 }
            _ = try await pool.describe(deadline: .now + .seconds(60))
            #expect(child.processIDs.count == 2)
        }
    }

    @Test func `One that never gets ready is no fault of the file, and is not started again and again`() async throws {
        let child = try ScriptedChild("die('SIGSEGV')", isReady: false)
        try await child.withPool { pool in
            pool.warmUp()
            await until { child.processIDs.count == 1 }
            let error = await failure(of: pool)
            #expect(
                error?.code == .internal && error?.isRetryable == false && error?.message.contains("doctor") == true)
            #expect(child.processIDs.count <= 2)
        }
    }

    @Test func `A call whose child ended while it was loading goes to the next one`() async throws {
        let script = """
            if starts == 1: sys.exit(1)
            say(0, ready)
            hear()
            if starts == 0: die('SIGSEGV')
            say(1, described)
            pause()
            """
        let child = try ScriptedChild(script, isReady: false)
        try await child.withPool { pool in
            _ = await failure(of: pool)
            _ = try await pool.describe(deadline: .now + .seconds(60))
            #expect(child.processIDs.count == 3)
        }
    }

    @Test func `A hanging child is ended at the deadline`() async throws {
        let child = try ScriptedChild("hear()\nif starts == 0: pause()\nsay(1, described)\npause()")
        try await child.withPool { pool in
            #expect(await failure(of: pool, seconds: 1)?.code == .deadlineExceeded)
            _ = try await pool.describe(deadline: .now + .seconds(60))
        }
    }

    @Test func `No child is left after a shutdown, the successor of a dead one included`() async throws {
        let child = try ScriptedChild("hear()\ndie('SIGSEGV')")
        try await child.withPool(slots: 2) { pool in
            await withTaskGroup { group in
                for _ in 0..<6 { group.addTask { _ = try? await pool.describe(deadline: .now + .seconds(60)) } }
            }
        }
        #expect(child.processIDs.count >= 6)
        #expect(child.processIDs.allSatisfy { kill($0, 0) != 0 })
    }
}
