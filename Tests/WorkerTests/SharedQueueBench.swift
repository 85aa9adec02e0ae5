import Foundation
import TestSupport
import Testing

/// `attachprep serve` and `attachprep worker` on one queue, with a real PostgreSQL server, bucket and processes.
struct SharedQueueBench: Sendable {
    let bench: ServiceBench
    let server: PostgresServer
    let store: ObjectStore
    let prefix = "shared-\(UUID().uuidString)"
    /// Replaces the server's own URL, for a pooler or another role.
    var url: String

    init(_ server: PostgresServer) async throws {
        bench = try ServiceBench()
        try bench.folder.write("k1:\(Data(repeating: 1, count: 32).base64EncodedString())\n", to: "queue.key")
        (self.server, url) = (server, server.url)
        store = try await ObjectStore.shared()
    }

    /// Variables of a machine of this queue.
    var environment: [String: String?] {
        store.environment.merging([
            "ATTACHPREP_PUBLISH": "s3://\(ObjectStore.bucket)/\(prefix)", "ATTACHPREP_QUEUE": url,
            "ATTACHPREP_QUEUE_KEY_FILE": bench.folder.path("queue.key"),
        ]) { $1 }.mapValues { Optional($0) }.merging(["ATTACHPREP_DATA": nil]) { $1 }
    }

    func start(_ name: String, _ options: [String] = [], timeoutSeconds: Double = 300) async throws -> RunningService {
        try await bench.launch(name, options, environment: environment, timeoutSeconds: timeoutSeconds)
    }

    func command(_ arguments: [String], _ changes: [String: String?] = [:]) async throws -> CommandResult {
        try await bench.command(arguments, environment: environment.merging(changes) { $1 }, timeoutSeconds: 60).run()
    }
}
