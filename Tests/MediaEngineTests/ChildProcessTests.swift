import Foundation
import Glibc
import Linux
import TestSupport
import Testing

struct ChildProcessTests {
    @Test func `A killed process is distinguished from one that exits`() throws {
        let (_, theirs) = try MessageSocket.pair()
        let sleeper = try ChildProcess.spawn(path: "/bin/cat", socket: theirs, environment: [:])
        sleeper.kill()
        // cat reads /dev/null and may have ended by itself before the signal came.
        #expect([.killed(signal: SIGKILL), .exited(code: 0)].contains(sleeper.reap()))
        let failing = try ChildProcess.spawn(path: "/bin/false", socket: theirs, environment: [:])
        #expect(failing.reap() == .exited(code: 1))
    }

    @Test func `A missing executable is an error`() throws {
        let (_, theirs) = try MessageSocket.pair()
        let error = #expect(throws: SystemError.self) {
            try ChildProcess.spawn(path: "/nonexistent/attachprep-media", socket: theirs, environment: [:])
        }
        #expect(error?.code == ENOENT)
    }
}

struct ProcessLimitsTests {
    private func spawn(_ script: String) throws -> (ChildProcess, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let path = try folder.write("#!/bin/sh\n\(script)\n", to: "program")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let (_, theirs) = try MessageSocket.pair()
        return (try ChildProcess.spawn(path: path, socket: theirs, environment: [:]), folder)
    }

    @Test func `A process over its processor time limit is ended`() throws {
        let (child, folder) = try spawn("while :; do :; done")
        try ProcessLimits.limitProcessorTime(seconds: 1, of: child)
        #expect(child.reap() == .killed(signal: SIGXCPU))
        withExtendedLifetime(folder) {}
    }

    @Test func `A processor time limit can be raised`() throws {
        let (child, folder) = try spawn("while :; do :; done")
        try ProcessLimits.limitProcessorTime(seconds: 1, of: child)
        try ProcessLimits.limitProcessorTime(seconds: 1_000, of: child)
        let usage = try ProcessUsage(of: child)
        while let used = usage.processorSeconds, used < 1.2 { sched_yield() }
        #expect(!child.hasEnded)
        child.kill()
        _ = child.reap()
        withExtendedLifetime(folder) {}
    }

    @Test func `A process's usage is measured until it has ended`() throws {
        let (child, folder) = try spawn("while :; do :; done")
        let usage = try ProcessUsage(of: child)
        while let used = usage.processorSeconds, used < 0.05 { sched_yield() }
        let resident = try #require(usage.residentBytes)
        #expect(resident > 100_000 && resident < 50_000_000)
        child.kill()
        while !child.hasEnded { sched_yield() }
        #expect(usage.residentBytes == nil)
        _ = child.reap()
        #expect(usage.processorSeconds == nil)
        withExtendedLifetime(folder) {}
    }
}
