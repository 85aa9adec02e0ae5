import Foundation
import Glibc
import Linux
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ProgramOutputTests {
    private func run(_ script: String, bytesMax: Int = 1_000, seconds: Double = 30) async throws -> ProgramOutput {
        try await onOwnThread {
            try ProgramOutput.run(
                path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"],
                bytesMax: bytesMax, deadline: .now + .seconds(seconds))
        }
    }

    @Test func `Output and status are returned`() async throws {
        let output = try await run("printf abc; exit 4")
        #expect(output.bytes == Array("abc".utf8) && output.ending == .exited(code: 4) && output.stop == nil)
    }

    @Test func `Output that is too long ends the program`() async throws {
        let output = try await run("yes", bytesMax: 10)
        #expect(output.bytes.count == 10 && output.stop == .outputTooLong)
        #expect(output.ending == .killed(signal: SIGKILL))
    }

    @Test func `The deadline ends the program and what it started`() async throws {
        let folder = try TemporaryFolder()
        let file = folder.path("child")
        let output = try await run("tail -f /dev/null & echo $! > \(file); wait", seconds: 1)
        #expect(output.stop == .deadline)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let child = try #require(pid_t(text.prefix { $0 != "\n" }))
        try await waitUntil("the end of the child") { kill(child, 0) < 0 || Self.isZombie(child) }
    }

    private static func isZombie(_ process: pid_t) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") ?? true
    }

    @Test func `A process left behind with the pipe does not delay the end`() async throws {
        let output = try await run("tail -f /dev/null & printf abc")
        #expect(output.bytes == Array("abc".utf8) && output.stop == nil)
    }

    @Test func `A program that closes its output is waited for`() async throws {
        let output = try await run("exec >&-; read x < /dev/null; exit 5")
        #expect(output.ending == .exited(code: 5) && output.bytes.isEmpty)
    }

    @Test func `A missing program is an error`() throws {
        let error = #expect(throws: SystemError.self) {
            try ProgramOutput.run(
                path: "/nonexistent", arguments: [], environment: [:], bytesMax: 1, deadline: .now + .seconds(1))
        }
        #expect(error?.code == ENOENT)
    }
}
