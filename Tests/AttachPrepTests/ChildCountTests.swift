import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

/// What a pool tells of its children, and how far behind they stand.
@Suite(.timeLimit(.minutes(1))) struct ChildCountTests {
    @Test func `A child that crashes is counted`() async throws {
        let child = try ScriptedChild("hear()\nif starts == 0: die('SIGSEGV')\nsay(1, described)\npause()")
        try await child.withPool { pool in
            #expect(pool.replacements == ChildReplacements())
            _ = try? await pool.describe(deadline: .now + .seconds(60))
            #expect(pool.replacements == ChildReplacements(failed: 1, recycled: 0))
        }
    }

    @Test func `A child that is replaced in good order is counted as that`() async throws {
        let hoarding = "hoard = bytearray(b'x') * (300 << 20) if starts == 0 else 0\n"
        let child = try ScriptedChild(hoarding + "while True: say(hear()['number'], described)")
        try await child.withPool { pool in
            for _ in 0..<2 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            #expect(pool.replacements == ChildReplacements(failed: 0, recycled: 1))
        }
    }

    @Test(arguments: [0, 5]) func `Children stand as far behind as they are told`(niceness: Int) async throws {
        let own = getpriority(CInt(PRIO_PROCESS.rawValue), 0)
        let child = try ScriptedChild("while True: say(hear()['number'], described)")
        let pool = try MediaProcessPool(executable: child.path, mediaSlots: 1, niceness: niceness)
        _ = try await pool.describe(deadline: .now + .seconds(60))
        let process = try #require(child.processIDs.first)
        let expected = niceness == 0 ? own : CInt(niceness)
        #expect(getpriority(CInt(PRIO_PROCESS.rawValue), id_t(process)) == expected)
        await pool.shutdown()
    }
}
