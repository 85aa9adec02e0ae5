import Foundation
import TestSupport
import Testing

/// Data folders that are damaged, read-only, full, or readable by other users.
@Suite(.timeLimit(.minutes(3))) struct DataFolderTests {
    let bench: ServiceBench

    init() throws {
        bench = try ServiceBench()
    }

    /// Expects that the service does not start, and returns its standard error.
    private func startError(_ state: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await bench.command(["serve", "--port", "0", "--data", state], timeoutSeconds: 30).run()
        #expect(result.exitCode == 1, "\(result.errorText)", sourceLocation: sourceLocation)
        return result.errorText
    }

    @Test func `A damaged database is reported with its path, and not changed`() async throws {
        let service = try await bench.start()
        _ = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        try await service.client.allEnded(seconds: 30)
        try await service.stop()
        for name in ["jobs.sqlite-wal", "jobs.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: "\(bench.state)/\(name)")
        }
        var bytes = try bench.folder.bytes(of: "state/jobs.sqlite")
        for index in 100..<min(bytes.count, 40_000) { bytes[index] = UInt8(truncatingIfNeeded: index &* 31) }
        try bench.folder.write(bytes, to: "state/jobs.sqlite")
        let text = try await startError(bench.state)
        #expect(text.contains("jobs.sqlite"), "\(text)")
        #expect(try bench.folder.bytes(of: "state/jobs.sqlite") == bytes)
    }

    @Test func `A file that is not a database is reported with its path, and not changed`() async throws {
        try bench.folder.makeFolder("state")
        try bench.folder.write("once upon a time, there was no database", to: "state/jobs.sqlite")
        #expect(try await startError(bench.state).contains("jobs.sqlite"))
        let text = String(decoding: try bench.folder.bytes(of: "state/jobs.sqlite"), as: UTF8.self)
        #expect(text == "once upon a time, there was no database")
    }

    @Test func `A folder without write permission is reported with its path`() async throws {
        // Not even root can write there.
        #expect(try await startError("/proc/attachprep").contains("/proc/attachprep"))
    }

    @Test(.enabled(if: Self.canMount, "only root may mount"))
    func `A read-only data folder is reported`() async throws {
        let script = """
            mkdir -p state && mount -t tmpfs -o ro none state || exit 90
            exec "$0" serve --port 0 --data state
            """
        let arguments = ["-m", "sh", "-c", script, try BuiltBinary.attachprep()]
        let result = try await RunCommand("unshare", arguments, folder: bench.folder.path, timeoutSeconds: 30).run()
        #expect(result.exitCode == 1 && result.errorText.contains("state"), "\(result.errorText)")
    }

    @Test(.enabled(if: Self.canMount, "only root may mount"))
    func `On a full disk, jobs are rejected or retried, and the service recovers once space is free`() async throws {
        // Only the service's own namespace has the mount, so a loop in it fills and frees the disk on request.
        let script = """
            mkdir -p state && mount -t tmpfs -o size=6m none state || exit 90
            (while [ ! -e fill ]; do sleep 0.05; done
             dd if=/dev/zero of=state/filling bs=4096 2>/dev/null; touch filled
             while [ ! -e free ]; do sleep 0.05; done
             rm state/filling; touch freed) &
            exec "$0" serve --port 0 --data state --allow-private-network --log-format json
            """
        let arguments = ["-m", "sh", "-c", script, try BuiltBinary.attachprep()]
        let running = try RunCommand("unshare", arguments, folder: bench.folder.path, timeoutSeconds: 120).start()
        try await waitUntil("the service listens") {
            (try? running.errorTextSoFar()).map { RunningService.marks.contains(where: $0.contains) } ?? false
        }
        let text = try running.errorTextSoFar()
        let lines = text.split(separator: "\n").map(String.init)
        let service = RunningService(
            running: running, url: try #require(lines.lazy.compactMap(RunningService.address).first, "\(text)"))
        let first = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        _ = try await service.client.ended(first)
        try bench.folder.write("", to: "fill")
        try await waitUntil("the disk is full") { FileManager.default.fileExists(atPath: bench.folder.path("filled")) }
        let line = #"{"source": "\#(try ServiceBench.url("grid.webp"))"}"#
        let response = try await service.client.send("POST", "/v1/jobs", body: line)
        // The database's log may still have enough space for it.
        #expect([202, 503, 507].contains(response.status), "\(response.text)")
        #expect(try await service.client.get("/healthz").status == 200)
        try bench.folder.write("", to: "free")
        try await waitUntil("space is free") { FileManager.default.fileExists(atPath: bench.folder.path("freed")) }
        let other = #"{"source": "\#(try ServiceBench.url("grid.png"))"}"#
        try await pollUntil("a job is accepted") {
            try await service.client.send("POST", "/v1/jobs", body: other).status == 202
        }
        try await service.client.allEnded(seconds: 60)
        #expect(try await service.client.jobs().allSatisfy { $0.state == "succeeded" })
        try await service.stop()
    }

    private static let canMount =
        (try? RunCommand("unshare", ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).runBlocking().exitCode) == 0

    @Test(arguments: ["000", "022"])
    func `Other users have no access to the data folder, whatever the umask and the folder's mode`(umask: String)
        async throws
    {
        try bench.folder.makeFolder("state")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: bench.state)
        let (origin, half) = (try LoopbackServer(), LoopbackGate())
        let body = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path("samples/media/grid.jpg")))
        origin.serve(
            "/late.jpg",
            .head(200, ["Content-Length": "\(body.count)"]).then(.send(body.prefix(2_000)), .open(half), .hang))
        // In a shell, to set the umask.
        let script = "umask \(umask); exec \"$0\" serve --port 0 --allow-private-network --log-format json"
        let running = try RunCommand(
            "sh", ["-c", script, try BuiltBinary.attachprep()],
            environment: [
                "TMPDIR": bench.folder.path("tmp"), "ATTACHPREP_MEDIA": nil, "ATTACHPREP_DATA": bench.state,
            ],
            folder: bench.folder.path, timeoutSeconds: 60
        ).start()
        try await waitUntil("the service listens") {
            (try? running.errorTextSoFar()).map { RunningService.marks.contains(where: $0.contains) } ?? false
        }
        let text = try running.errorTextSoFar()
        let url = try #require(
            text.split(separator: "\n").lazy.compactMap { RunningService.address(in: "\($0)") }.first)
        let service = RunningService(running: running, url: url)
        let id = try await service.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        _ = try await service.client.ended(id)
        _ = try await service.client.submit(#"{"source": "\#(origin.url("/late.jpg"))"}"#)
        await half.waitUntilOpen()
        let entries = try entries()
        // Result files keep their published mode; the folder that holds them, `content`, is closed to others.
        let accessible = entries.filter { $0.mode & 0o077 != 0 && !$0.path.hasPrefix("content/") }
        #expect(accessible.isEmpty, "\(accessible)")
        #expect(entries.contains { $0.path == "content" && $0.mode == 0o700 })
        #expect(entries.contains { $0.path.hasPrefix("work/") })
        try await service.kill()
    }

    /// The entries of the data folder, including itself with an empty path.
    private func entries() throws -> [(path: String, mode: Int)] {
        let names = [""] + (try FileManager.default.subpathsOfDirectory(atPath: bench.state))
        return names.compactMap { name in
            // Entries may disappear meanwhile.
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(bench.state)/\(name)")
            return (attributes?[.posixPermissions] as? Int).map { (name, $0) }
        }
    }

    @Test func `10,000 queued jobs do not delay the start of the service`() async throws {
        let first = try await bench.start()
        let line = #"{"source": "http://127.0.0.1:9/x?"#
        _ = try await first.client.submit(
            lines: (0..<10_000).map { line + "\($0)\", \"notBefore\": \"2099-01-01T00:00:00Z\"}" })
        try await first.kill()
        let second = try await bench.start()
        let id = try await second.client.submit(#"{"source": "\#(try ServiceBench.url("grid.jpg"))"}"#)
        #expect(try await second.client.ended(id).state == "succeeded")
        #expect(try await second.client.get("/readyz").status == 200)
        try await second.stop()
    }
}
