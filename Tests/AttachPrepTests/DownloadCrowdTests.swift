import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

@Suite(.timeLimit(.minutes(1))) struct DownloadCrowdTests {
    @Test func `A crowd of downloads, many of them cancelled, leaves no connection and no slot behind`() async throws {
        let server = try LoopbackServer()
        let bench = try DownloadBench(inFlightMax: 4)
        server.serve("/cat", .body(patterned(50_000)))
        server.serve("/slow", LoopbackAnswer([.hang]))
        server.serve("/broken", .start(of: patterned(50_000), bytes: 20_000).then(.reset))
        let paths = ["/cat", "/slow", "/broken", "/cat"]
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                group.addTask {
                    let fetch = Task {
                        let file = try DownloadScratch()
                        let url = server.url(paths[number % paths.count])
                        return try await bench.downloader.download(
                            DownloadRequest(url: url, deadline: .now + .seconds(30)), into: file.descriptor
                        ) { _, _ in .anything }
                    }
                    if number % 4 == 1 || number % 5 == 0 {
                        if number % 3 > 0 { await server.until { $0.requests.count > number / 8 } }
                        fetch.cancel()
                    }
                    _ = await fetch.result
                }
            }
        }
        // Every slot is free again: as many downloads as there are slots run side by side.
        let gate = LoopbackGate()
        server.serve("/gate", LoopbackAnswer([.wait(gate)] + LoopbackAnswer.body(patterned(10)).steps))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let file = try DownloadScratch()
                    let request = DownloadRequest(url: server.url("/gate"), deadline: .now + .seconds(30))
                    return try await bench.downloader.download(request, into: file.descriptor) { _, _ in .anything }
                        .bytes
                }
            }
            await server.until { $0.requests(to: "/gate").count == 4 }
            gate.open()
            for try await bytes in group { #expect(bytes == 10) }
        }
        await bench.downloader.shutdown()
        await server.until { $0.openConnectionCount == 0 }
    }
}

/// A file without a name.
private final class DownloadScratch: Sendable {
    let descriptor: CInt

    init() throws {
        var name = Array("/tmp/attachprep-crowd-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        try #require(descriptor >= 0)
        unlink(name)
    }

    deinit {
        close(descriptor)
    }
}
