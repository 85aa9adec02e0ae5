import AttachPrepJobs
import AttachPrepModel
import Foundation
import JetStreamQueue
import Logging
import NATS
import RichPush
import Synchronization
import TestSupport
import Testing

/// Issue 19: rejections by the servers are explained, with their reason in the log and what to do in the message.
@Suite(.timeLimit(.minutes(1))) struct QueueErrorMappingTests {
    @Test func `Replicas that a single server cannot have are explained and not retryable`() async throws {
        let server = try await NATSServer.start()
        let log = RecordedLog()
        let servers = QueueServers(NATSSettings(servers: [server.url]), replicas: 3)
        let error = await #expect(throws: AttachPrepError.self) {
            _ = try await NATSJobQueue.open(servers, feed: JobFeed(), logger: log.logger)
        }
        let message = error?.message ?? ""
        #expect(message.contains("ATTACHPREP_QUEUE_REPLICAS") && message.contains("3 NATS servers"), "\(message)")
        #expect(error?.isRetryable == false)
        let line = try #require(log.lines.first { $0.contains("10074") }, "\(log.lines)")
        #expect(line.contains("replicas > 1 not supported in non-clustered mode"), "\(line)")
        #expect(line.contains("STREAM.CREATE.attachprep_lanes") && line.contains("127.0.0.1:\(server.port)"), "\(line)")
    }

    /// Creates an operator's bucket that can hold one value, and fills it.
    private func fullBucket(on server: NATSServer) async throws {
        let connection = try await NATSConnection.connect(NATSSettings(servers: [server.url]))
        let request = #"""
            {"name": "KV_attachprep_jobs", "subjects": ["$KV.attachprep_jobs.>"], "retention": "limits",
            "storage": "file", "num_replicas": 1, "discard": "new", "max_msgs_per_subject": 1, "max_msgs": 1,
            "allow_rollup_hdrs": true}
            """#
        _ = try await connection.request(
            OutgoingMessage("$JS.API.STREAM.CREATE.KV_attachprep_jobs", Array(request.utf8)))
        _ = try await connection.request(OutgoingMessage("$KV.attachprep_jobs.x", [1]))
    }

    @Test func `A message that the server rejects is explained in the log once`() async throws {
        let (server, log) = (try await NATSServer.start(), RecordedLog())
        try await fullBucket(on: server)
        let queue = try await NATSJobQueue.open(
            QueueServers(NATSSettings(servers: [server.url])), feed: JobFeed(), logger: log.logger)
        for _ in 0..<3 {
            let error = await #expect(throws: AttachPrepError.self) {
                _ = try await queue.enqueue([.sample()], idempotency: nil)
            }
            #expect(error?.message.contains("see the log") == true, "\(error?.message ?? "")")
        }
        #expect(log.lines.count { $0.contains("10077") && $0.contains("maximum messages") } == 1, "\(log.lines)")
        await queue.close()
    }
}

/// Recorded lines of a log, with their metadata.
final class RecordedLog: Sendable {
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
            log.recorded.withLock { $0.append("\(event.level) \(event.message) \(details)") }
        }
    }
}
