import Foundation
import Synchronization
import TestSupport
import Testing

/// A place for the real `attachprep serve`: its own data folder, which outlives the processes that work on it.
final class ServiceBench: Sendable {
    let folder: TemporaryFolder

    /// The data folder.
    var state: String { folder.path("state") }

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("tmp")
    }

    /// The samples over http, for all tests.
    static let samples = Result {
        let server = try LoopbackServer()
        try server.serve(folder: URL(fileURLWithPath: SourceTree.path("samples/media"), isDirectory: true))
        return server
    }

    /// The address of one of `samples/media`.
    static func url(_ sample: String) throws -> String { try samples.get().url("/\(sample)") }

    /// The command with these words, in this bench's folders.
    func command(_ words: [String], environment: [String: String?] = [:], timeoutSeconds: Double = 120) throws
        -> RunCommand
    {
        let own: [String: String?] = [
            "TMPDIR": folder.path("tmp"), "ATTACHPREP_MEDIA": nil, "ATTACHPREP_STATE": state,
        ]
        return RunCommand(
            try BuiltBinary.attachprep(), words, environment: own.merging(environment) { $1 }, folder: folder.path,
            timeoutSeconds: timeoutSeconds)
    }

    /// Starts a service and waits until it says where it listens.
    func start(_ options: [String] = [], environment: [String: String?] = [:], timeoutSeconds: Double = 300)
        async throws -> RunningService
    {
        try await launch("serve", options, environment: environment, timeoutSeconds: timeoutSeconds)
    }

    /// The same of any command that listens.
    func launch(
        _ name: String, _ options: [String] = [], environment: [String: String?] = [:], timeoutSeconds: Double = 300
    ) async throws -> RunningService {
        let words = [name, "--port", "0", "--allow-private-network", "--log-format", "json"] + options
        let running = try command(words, environment: environment, timeoutSeconds: timeoutSeconds).start()
        var address: String?
        try await waitUntil("it listens", seconds: 60) {
            guard let text = try? running.errorTextSoFar() else { return false }
            return RunningService.marks.contains(where: text.contains)
                || !ProcessFacts(processID: running.processID).isRunning
        }
        let text = try running.errorTextSoFar()
        address = text.split(separator: "\n").lazy.compactMap { RunningService.address(in: String($0)) }.first
        return RunningService(running: running, url: try #require(address, "\(text)"))
    }

    /// Names of all files of results, in the folder of contents.
    func contents() throws -> [String] {
        try folder.contents().filter { $0.hasPrefix("state/content/") && $0.split(separator: "/").count == 4 }
    }

    /// What a worker was making, or an upload that was not kept.
    func leftovers() throws -> [String] {
        try folder.contents().filter { $0.hasPrefix("state/work/") || $0.hasPrefix("tmp/") }
    }
}

/// A service that listens.
struct RunningService: Sendable {
    /// What its log says when it listens.
    static let marks = ["\"serving\"", "\"working\"", " serving ", " working "]

    let running: RunningCommand
    let url: String

    /// The address in that line, however lines are written.
    static func address(in line: String) -> String? {
        guard marks.contains(where: line.contains), let start = line.range(of: "http://") else { return nil }
        return String(line[start.lowerBound...].prefix { !"\" ,".contains($0) })
    }

    var client: ServiceClient { ServiceClient(url: url) }

    /// Waits until it takes jobs: it listens a moment before it has asked its queue for the first time.
    func untilReady() async throws {
        let last = Mutex("")
        do {
            try await askUntil("it is ready") {
                let answer = try await client.get("/readyz")
                last.withLock { $0 = "\(answer.status) \(answer.text)" }
                return answer.status == 200
            }
        } catch {
            // What kept it from that is nowhere else.
            Issue.record("\(last.withLock { $0 })\n\((try? running.errorTextSoFar()) ?? "")")
            throw error
        }
    }

    /// SIGTERM, and its end.
    @discardableResult
    func stop() async throws -> CommandResult {
        running.send(SIGTERM)
        return try await running.result()
    }

    /// kill -9, and its end.
    func kill() async throws {
        running.send(SIGKILL)
        _ = try await running.result()
    }
}
