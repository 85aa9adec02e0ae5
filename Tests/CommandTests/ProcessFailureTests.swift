import Foundation
import Synchronization
import TestSupport
import Testing

/// `kill -9` of a media process or of the command itself.
@Suite(.timeLimit(.minutes(2))) struct KilledProcessTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// Starts a run, waits until one of its media processes is decoding, and calls `action` with that process.
    private func startRendering(
        _ arguments: [String], then action: @escaping @Sendable (_ mediaProcess: ProcessStatus) -> Void
    ) async throws -> RunningCommand {
        let running = try bench.command(arguments).start()
        let (process, out) = (ProcessStatus(processID: running.processID), bench.output)
        let busy = Mutex<(before: [ProcessStatus: Int], mediaProcess: ProcessStatus?)?>(nil)
        try await waitUntil("a media process is decoding") {
            guard StagedFiles.exist(named: "thumbnail.new", in: out) else { return false }
            return busy.withLock { busy in
                let mediaProcesses = process.children
                let before = busy?.before ?? Dictionary(uniqueKeysWithValues: mediaProcesses.map { ($0, $0.ticks) })
                busy = (before, mediaProcesses.first { $0.ticks > before[$0, default: 0] + 2 })
                return busy?.mediaProcess != nil
            }
        } then: {
            if let mediaProcess = busy.withLock({ $0?.mediaProcess }) { action(mediaProcess) }
        }
        return running
    }

    @Test func `A media process killed while it works fails its request and leaves no files`() async throws {
        let arguments = bench.arguments("prepare", [try await HandmadeMedia.slowImage().path])
        let running = try await startRendering(arguments) { kill($0.processID, SIGKILL) }
        let result = try await running.result()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        #expect(result.exitCode == 1)
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        #expect(manifest.error?.retryable == true)
        #expect(try bench.leftovers() == [])
    }

    @Test func `After a killed media process, the remaining requests of a batch succeed`() async throws {
        let slow = try await HandmadeMedia.slowImage().path
        let others = ["grid.jpg", "grid.webp", "clock.mp4"].map(SourceTree.sample)
        let list = try bench.folder.write(([slow] + others).joined(separator: "\n"), to: "list")
        let arguments = bench.arguments("batch", ["--concurrency", "1", list])
        let running = try await startRendering(arguments) { kill($0.processID, SIGKILL) }
        let manifests = try await running.result().lines.map(PrintedManifest.init(line:))
        #expect(manifests.map(\.error?.code) == ["media.decoder_crashed", nil, nil, nil])
        #expect(try bench.leftovers().filter { $0.contains(".attachprep-") } == [])
    }

    @Test func `A media process killed while idle fails no request`() async throws {
        let server = try LoopbackServer()
        let gate = LoopbackGate()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        server.serve("/cat.jpg", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        let running = try bench.command(bench.arguments("prepare", [server.url("/cat.jpg")])).start()
        let process = ProcessStatus(processID: running.processID)
        await server.until { $0.requests.count == 1 }
        let killed = Mutex<[ProcessStatus]>([])
        try await waitUntil("the first media process has started") {
            !process.children.isEmpty
        } then: {
            killed.withLock { $0 = process.children }
            for mediaProcess in process.children { kill(mediaProcess.processID, SIGKILL) }
        }
        try await waitUntil("the killed process has ended") {
            killed.withLock { !$0.contains { $0.isRunning } }
        } then: {
            gate.open()
        }
        let result = try await running.result()
        #expect(result.exitCode == 0, "\(result.text)")
    }

    @Test func `A killed command ends its media processes, and the next run removes its staging folder`() async throws {
        let arguments = bench.arguments("prepare", [try await HandmadeMedia.slowImage().path])
        let mediaProcess = Mutex<ProcessStatus?>(nil)
        let running = try await startRendering(arguments) { busy in
            mediaProcess.withLock { $0 = busy }
            if let parent = busy.parent { kill(parent, SIGKILL) }
        }
        #expect(try await running.result().exitCode == 128 + SIGKILL)
        let busy = try #require(mediaProcess.withLock { $0 })
        try await waitUntil("its media process has ended", seconds: 10) { !busy.isRunning }
        #expect(try bench.leftovers().contains { $0.hasPrefix("out/.attachprep-") })
        let manifest = try await bench.prepare(SourceTree.sample("grid.jpg"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.output) == [manifest.id])
    }

    @Test func `The staging folder of a running command is not removed by another run`() async throws {
        let server = try LoopbackServer()
        let gate = LoopbackGate()
        let image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/cat.png", LoopbackResponse([.wait(gate)] + LoopbackResponse.body(image).steps))
        let running = try bench.command(bench.arguments("prepare", [server.url("/cat.png")])).start()
        await server.until { $0.requests.count == 1 }
        #expect(try await bench.prepare(SourceTree.sample("grid.jpg")).error == nil)
        gate.open()
        #expect(try await running.result().exitCode == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.output).count == 2)
    }
}

/// Media processes that do not start, hang or send invalid messages: each fails its request, never the command.
@Suite(.timeLimit(.minutes(2))) struct BrokenMediaProcessTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// Prepares a sample with a shell script instead of `attachprep-media`.
    private func prepare(with script: String, _ options: String...) async throws -> PrintedManifest {
        let path = try bench.folder.write("#!/bin/sh\necho $$ >>\(bench.folder.path("pids"))\n\(script)\n", to: "media")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let arguments = bench.arguments("prepare", options + [SourceTree.sample("grid.jpg")])
        let result = try await bench.command(arguments, environment: ["ATTACHPREP_MEDIA": path]).run()
        #expect(result.exitCode == 1)
        return try PrintedManifest(line: try #require(result.lines.first, "\(result.errorText)"))
    }

    /// Expects that all started scripts have ended, by their recorded process IDs.
    private func expectAllEnded(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let text = String(decoding: try bench.folder.bytes(of: "pids"), as: UTF8.self)
        let started = text.split(separator: "\n").compactMap { pid_t($0) }.map(ProcessStatus.init)
        #expect(!started.isEmpty, sourceLocation: sourceLocation)
        try await waitUntil("the scripts have ended", seconds: 10) { !started.contains { $0.isRunning } }
        #expect(try bench.leftovers() == [], sourceLocation: sourceLocation)
    }

    @Test func `A media process that never starts is an internal error that refers to doctor`() async throws {
        let manifest = try await prepare(with: "exit 1")
        bench.expect(manifest, rejectedAs: "internal")
        #expect(manifest.error?.message.contains("attachprep doctor") == true)
        try await expectAllEnded()
    }

    @Test func `A media process that never responds is killed when the budget is used up`() async throws {
        let manifest = try await prepare(with: "exec tail -f /dev/null", "--budget", "1s")
        bench.expect(manifest, rejectedAs: "deadline.exceeded")
        try await expectAllEnded()
    }

    @Test func `A media process that sends an invalid message is ended, and its request fails`() async throws {
        let manifest = try await prepare(with: "printf nonsense >&3; exec tail -f /dev/null")
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        try await expectAllEnded()
    }

    @Test func `A media process that sends an oversized message is ended, and its request fails`() async throws {
        let manifest = try await prepare(
            with: "head -c 140000 /dev/zero | dd bs=140000 iflag=fullblock >&3; exec tail -f /dev/null")
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        try await expectAllEnded()
    }
}
