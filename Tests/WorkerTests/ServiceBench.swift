import Foundation
import Synchronization
import TestSupport
import Testing

/// Runs the real `attachprep serve` with its own data folder, which several processes can use in succession.
final class ServiceBench: Sendable {
    let folder: TemporaryFolder

    /// The data folder.
    var state: String { folder.path("state") }

    init() throws {
        folder = try TemporaryFolder()
        try folder.makeFolder("tmp")
    }

    /// Serves `samples/media` over http, for all tests.
    static let samples = Result {
        let server = try LoopbackServer()
        try server.serve(folder: URL(fileURLWithPath: SourceTree.path("samples/media"), isDirectory: true))
        return server
    }

    /// The URL of a file of `samples/media`.
    static func url(_ sample: String) throws -> String { try samples.get().url("/\(sample)") }

    /// The command with these arguments, in this bench's folders.
    func command(_ arguments: [String], environment: [String: String?] = [:], timeoutSeconds: Double = 120) throws
        -> RunCommand
    {
        let own: [String: String?] = [
            "TMPDIR": folder.path("tmp"), "ATTACHPREP_MEDIA": nil, "ATTACHPREP_DATA": state,
        ]
        return RunCommand(
            try BuiltBinary.attachprep(), arguments, environment: own.merging(environment) { $1 }, folder: folder.path,
            timeoutSeconds: timeoutSeconds)
    }

    /// Starts a service and waits until it logs its address.
    func start(_ options: [String] = [], environment: [String: String?] = [:], timeoutSeconds: Double = 300)
        async throws -> RunningService
    {
        try await launch("serve", options, environment: environment, timeoutSeconds: timeoutSeconds)
    }

    /// Starts any command that listens, and waits until it logs its address.
    func launch(
        _ name: String, _ options: [String] = [], environment: [String: String?] = [:], timeoutSeconds: Double = 300
    ) async throws -> RunningService {
        let arguments = [name, "--port", "0", "--allow-private-network", "--log-format", "json"] + options
        let running = try command(arguments, environment: environment, timeoutSeconds: timeoutSeconds).start()
        var address: String?
        try await waitUntil("the service listens", seconds: 60) {
            guard let text = try? running.errorTextSoFar() else { return false }
            return RunningService.marks.contains(where: text.contains)
                || !ProcessStatus(processID: running.processID).isRunning
        }
        let text = try running.errorTextSoFar()
        address = text.split(separator: "\n").lazy.compactMap { RunningService.address(in: String($0)) }.first
        return RunningService(running: running, url: try #require(address, "\(text)"), folder: folder)
    }

    /// The paths of all result files, in the folder `content`.
    func contents() throws -> [String] {
        try folder.contents().filter { $0.hasPrefix("state/content/") && $0.split(separator: "/").count == 4 }
    }

    /// Files that a worker was writing, or uploads that were not stored.
    func leftovers() throws -> [String] {
        try folder.contents().filter { $0.hasPrefix("state/work/") || $0.hasPrefix("tmp/") }
    }
}

/// A running service and its address.
struct RunningService: Sendable {
    /// The log messages of a service that listens.
    static let marks = ["\"serving\"", "\"working\"", " serving ", " working "]

    let running: RunningCommand
    let url: String
    /// Kept until the service is no longer used, also when the bench is not.
    var folder: TemporaryFolder?

    /// The address in such a log line, in text or JSON.
    static func address(in line: String) -> String? {
        guard marks.contains(where: line.contains), let start = line.range(of: "http://") else { return nil }
        return String(line[start.lowerBound...].prefix { !"\" ,".contains($0) })
    }

    var client: ServiceClient { ServiceClient(url: url) }

    /// Waits until the service is ready: it listens shortly before its first access to the queue.
    func untilReady() async throws {
        let last = Mutex("")
        do {
            try await pollUntil("the service is ready") {
                let response = try await client.get("/readyz")
                last.withLock { $0 = "\(response.status) \(response.text)" }
                return response.status == 200
            }
        } catch {
            // The reason is only in the last response and in the log.
            Issue.record("\(last.withLock { $0 })\n\((try? running.errorTextSoFar()) ?? "")")
            throw error
        }
    }

    /// Opens an event stream, as if it went on after an id.
    func events(after id: String? = nil) async throws -> RawConnection {
        let port = try #require(url.split(separator: ":").last.flatMap { Int($0) })
        let connection = try RawConnection(port: port)
        let last = id.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        try await connection.send("GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\(last)\r\n")
        return connection
    }

    /// Sends SIGTERM and waits for the end.
    @discardableResult
    func stop() async throws -> CommandResult {
        running.send(SIGTERM)
        return try await running.result()
    }

    /// Sends SIGKILL and waits for the end.
    func kill() async throws {
        running.send(SIGKILL)
        _ = try await running.result()
    }
}
