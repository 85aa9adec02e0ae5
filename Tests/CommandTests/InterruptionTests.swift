import Foundation
import TestSupport
import Testing

/// Ctrl-C and SIGTERM: exit code 130, no incomplete folders, and `--resume` does the rest.
@Suite(.timeLimit(.minutes(2))) struct InterruptionTests {
    let bench: CommandBench
    let server: LoopbackServer
    let image: Data

    init() throws {
        bench = try CommandBench()
        server = try LoopbackServer()
        image = try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `An interrupted prepare exits with 130 and leaves no files`(signal: Int32) async throws {
        let server = server
        server.serve("/cat.jpg", .start(of: image, bytes: 20_000).then(.hang))
        let running = try bench.command(bench.arguments("prepare", [server.url("/cat.jpg")])).start()
        try await waitUntil("the server has a request") {
            server.requests.count == 1
        } then: {
            running.send(signal)
        }
        let result = try await running.result()
        #expect(result.exitCode == 130)
        #expect(try result.lines.map { try PrintedManifest(line: $0).error?.code } == ["cancelled"])
        #expect(try bench.leftovers() == [])
    }

    @Test func `An interrupted inspect exits with 130 and leaves no files`() async throws {
        let server = server
        server.serve("/cat.jpg", .start(of: image, bytes: 20_000).then(.hang))
        let arguments = ["inspect", "--allow-private-network", server.url("/cat.jpg"), server.url("/dog.jpg")]
        let running = try bench.command(arguments).start()
        try await waitUntil("the server has a request") {
            server.requests.count == 1
        } then: {
            running.send(SIGINT)
        }
        #expect(try await running.result().exitCode == 130)
        #expect(server.requests(to: "/dog.jpg").isEmpty)
        #expect(try bench.leftovers() == [])
    }

    @Test func `An interruption also stops decoding and encoding`() async throws {
        let slow = try await HandmadeMedia.slowImage().path
        let running = try bench.command(bench.arguments("prepare", Array(repeating: slow, count: 8))).start()
        let out = bench.output
        try await waitUntil("an image is being rendered") {
            StagedFiles.exist(named: "thumbnail.new", in: out)
        } then: {
            // A terminal signals the whole process group.
            kill(-running.processID, SIGINT)
        }
        let result = try await running.result()
        #expect(result.exitCode == 130)
        let codes = try Set(result.lines.compactMap { try PrintedManifest(line: $0).error?.code })
        #expect(codes == ["cancelled"])
        #expect(try bench.leftovers().filter { $0.contains(".attachprep-") } == [])
    }

    @Test func `An interrupted batch keeps finished results, reports the rest, and can be resumed`() async throws {
        let (gate, server) = (LoopbackGate(), server)
        let names = (0..<6).map { "/cat-\($0).jpg" }
        for name in names.prefix(3) { server.serve(name, .body(image)) }
        let late = LoopbackResponse.start(of: image, bytes: 20_000)
            .then(.wait(gate), .send(image.dropFirst(20_000)))
        for name in names.suffix(3) { server.serve(name, late) }
        let list = try bench.folder.write(names.map { server.url($0) + "\n" }.joined(), to: "list")
        let running = try bench.command(bench.arguments("batch", ["--concurrency", "4", list])).start()
        try await waitUntil("three are finished and three are in flight") {
            (try? running.textSoFar().split(separator: "\n").count) == 3 && server.requests.count == 6
        } then: {
            running.send(SIGINT)
        }
        let result = try await running.result()
        #expect(result.exitCode == 130)
        #expect(result.errorText.hasSuffix("3 of 6 not processed; run the command again with --resume.\n"))
        #expect(!result.errorText.contains(server.url(names[5])))
        #expect(try bench.leftovers().filter { $0.hasSuffix("manifest.json") }.count == 3)
        #expect(try bench.leftovers().filter { $0.contains(".attachprep-") } == [])
        gate.open()
        let resumed = try await bench.command(bench.arguments("batch", ["--resume", list])).run()
        #expect(resumed.exitCode == 0, "\(resumed.errorText)")
        #expect(resumed.errorText.contains("3 skipped"))
        #expect(names.map { server.requests(to: $0).count } == [1, 1, 1, 2, 2, 2])
    }
}

/// Files in staging folders.
enum StagedFiles {
    static func exist(named name: String, in output: String) -> Bool {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: output)) ?? []
        return paths.contains { $0.hasPrefix(".attachprep-") && $0.hasSuffix("/\(name)") }
    }
}
