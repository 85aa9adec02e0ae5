import Foundation
import Synchronization
import TestSupport
import Testing

/// `kill -9` of a child or of the command itself.
@Suite(.timeLimit(.minutes(2))) struct KillTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    /// Starts a run, waits until one of its children is decoding, and does something to it.
    private func startRendering(
        _ words: [String], then action: @escaping @Sendable (_ child: ProcessFacts) -> Void
    ) async throws -> RunningCommand {
        let running = try bench.command(words).start()
        let (facts, out) = (ProcessFacts(processID: running.processID), bench.output)
        let busy = Mutex<(before: [ProcessFacts: Int], child: ProcessFacts?)?>(nil)
        try await waitUntil("a child works") {
            guard StagedFiles.exist(named: "thumbnail.new", in: out) else { return false }
            return busy.withLock { busy in
                let children = facts.children
                let before = busy?.before ?? Dictionary(uniqueKeysWithValues: children.map { ($0, $0.ticks) })
                busy = (before, children.first { $0.ticks > before[$0, default: 0] + 2 })
                return busy?.child != nil
            }
        } then: {
            if let child = busy.withLock({ $0?.child }) { action(child) }
        }
        return running
    }

    @Test func `A child killed at its work ends its request with an error and nothing left`() async throws {
        let words = bench.words("prepare", [try await HandmadeMedia.slowPicture().path])
        let running = try await startRendering(words) { kill($0.processID, SIGKILL) }
        let result = try await running.result()
        let manifest = try PrintedManifest(line: try #require(result.lines.first))
        #expect(result.exitCode == 1)
        bench.expect(manifest, rejectedAs: "media.decoder_crashed")
        #expect(manifest.error?.retryable == true)
        #expect(try bench.leftovers() == [])
    }

    @Test func `After a killed child the next requests of a batch work`() async throws {
        let slow = try await HandmadeMedia.slowPicture().path
        let others = ["grid.jpg", "grid.webp", "clock.mp4"].map(SourceTree.sample)
        let list = try bench.folder.write(([slow] + others).joined(separator: "\n"), to: "list")
        let words = bench.words("batch", ["--concurrency", "1", list])
        let running = try await startRendering(words) { kill($0.processID, SIGKILL) }
        let manifests = try await running.result().lines.map(PrintedManifest.init(line:))
        #expect(manifests.map(\.error?.code) == ["media.decoder_crashed", nil, nil, nil])
        #expect(try bench.leftovers().filter { $0.contains(".attachprep-") } == [])
    }

    @Test func `A child killed while it was idle costs no request`() async throws {
        let server = try LoopbackServer()
        let gate = LoopbackGate()
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
        server.serve("/cat.jpg", LoopbackAnswer([.wait(gate)] + LoopbackAnswer.body(picture).steps))
        let running = try bench.command(bench.words("prepare", [server.url("/cat.jpg")])).start()
        let facts = ProcessFacts(processID: running.processID)
        await server.until { $0.requests.count == 1 }
        let killed = Mutex<[ProcessFacts]>([])
        try await waitUntil("the first child has started") {
            !facts.children.isEmpty
        } then: {
            killed.withLock { $0 = facts.children }
            for child in facts.children { kill(child.processID, SIGKILL) }
        }
        try await waitUntil("it has ended") {
            killed.withLock { !$0.contains { $0.isRunning } }
        } then: {
            gate.open()
        }
        let result = try await running.result()
        #expect(result.exitCode == 0, "\(result.text)")
    }

    @Test func `A killed command takes its children with it, and the next run sweeps what it left`() async throws {
        let words = bench.words("prepare", [try await HandmadeMedia.slowPicture().path])
        let child = Mutex<ProcessFacts?>(nil)
        let running = try await startRendering(words) { busy in
            child.withLock { $0 = busy }
            if let parent = busy.parent { kill(parent, SIGKILL) }
        }
        #expect(try await running.result().exitCode == 128 + SIGKILL)
        let busy = try #require(child.withLock { $0 })
        try await waitUntil("its child has ended", seconds: 10) { !busy.isRunning }
        #expect(try bench.leftovers().contains { $0.hasPrefix("out/.attachprep-") })
        let manifest = try await bench.prepare(SourceTree.sample("grid.jpg"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.output) == [manifest.id])
    }

    @Test func `What a live run is making is not swept by another one`() async throws {
        let server = try LoopbackServer()
        let gate = LoopbackGate()
        let picture = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.png")))
        server.serve("/cat.png", LoopbackAnswer([.wait(gate)] + LoopbackAnswer.body(picture).steps))
        let running = try bench.command(bench.words("prepare", [server.url("/cat.png")])).start()
        await server.until { $0.requests.count == 1 }
        #expect(try await bench.prepare(SourceTree.sample("grid.jpg")).error == nil)
        gate.open()
        #expect(try await running.result().exitCode == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.output).count == 2)
    }
}
