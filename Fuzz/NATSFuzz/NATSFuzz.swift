import AttachPrep
import Foundation
import FuzzSupport
import Logging
import RichPush
import Synchronization

@testable import AttachPrepJobs
@testable import AttachPrepModel
@testable import JetStreamQueue
@testable import NATS

/// Fuzzes the JetStream queue against a hostile NATS server: jobs are enqueued, claimed and finished while the server's
/// messages are corrupted.
@main enum NATSFuzz {
    private static let peer = NATSPeer()
    private static let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
    private static let folder = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/attachprep-nats-\(getpid())"
    nonisolated(unsafe) private static var descriptors = DescriptorCount()

    private static let deadline = Duration.milliseconds(1_200)
    /// Additional time: connecting may take 2 s; the rest is for a loaded machine and the address sanitizer.
    private static let grace = Duration.seconds(6)

    static func main() {
        _ = peer.port
        mkdir(folder, 0o700)
        FuzzTarget.run { input in try play(input) }
    }

    private static func play(_ input: FuzzInput) throws {
        var input = input
        let steps = (0..<(1 + Int(input.byte()) % 12)).map { _ in input.byte() }
        peer.begin(NATSStore(input))
        let stopwatch = FairStopwatch()
        Waiting.result {
            do {
                try await use(steps)
            } catch {
                check(error)
            }
        }
        peer.end()
        let took = stopwatch.took
        Invariant.hold(took < deadline + grace, "work ends when the queue is closed: took \(took)")
        try? FileManager.default.removeItem(atPath: folder + "/machine")
        descriptors.check()
    }

    private static func check(_ error: any Error) {
        Trace.show("=== \(error)")
        let isOurs = error is AttachPrepError || error is NATSError || error is StreamMismatchError
        Invariant.hold(
            isOurs || error is CancellationError || error is DecodingError, "an expected error type: \(error)")
    }

    /// Opens the queue, performs the scripted calls until the deadline, and closes it.
    private static func use(_ steps: [UInt8]) async throws {
        let settings = NATSSettings(
            servers: ["nats://127.0.0.1:\(peer.port)"], requestTimeout: .milliseconds(150))
        let connection = try await NATSConnection.connect(settings)
        let alarm = Task {
            try await Task.sleep(for: deadline)
            connection.close()
        }
        defer {
            alarm.cancel()
            connection.close()
        }
        let layout = QueueLayout(
            names: QueueNames(prefix: "attachprep"), replicas: 1, lease: .seconds(30), limits: StoreLimits())
        let storage = try await QueueStorage(layout, in: JetStream(connection))
        let own = try LocalStateFolder(folder + "/machine")
        defer { own.close() }
        let mirror = try JobMirror(path: own.mirrorPath, feed: JobFeed(), at: StoreClock.system.now())
        let queue = NATSJobQueue(
            storage, layout, folder: own, mirror: mirror, lease: .seconds(30), limits: StoreLimits(),
            clock: .system, logger: logger, errorLog: NATSErrorLog(logger))
        let (current, continuation) = AsyncStream.makeStream(of: Never.self)
        let watcher = Task {
            await JobWatcher(bucket: storage.jobs, mirror: mirror, clock: .system, logger: logger).run {
                continuation.finish()
            }
        }
        try? await withDeadline(.now + .milliseconds(200), stage: "the start") { for await _ in current {} }
        let work = Task { await Work(queue).run(steps) }
        let end = Task {
            try await Task.sleep(for: deadline)
            work.cancel()
        }
        await work.value
        end.cancel()
        watcher.cancel()
        connection.close()
        await watcher.value
        try mirror.close()
    }

    /// Performs one call of a caller or worker.
    private final class Work: Sendable {
        private let queue: NATSJobQueue
        private let state = Mutex((ids: [JobID](), claimed: [ClaimedJob](), uploads: [MediaID]()))

        init(_ queue: NATSJobQueue) {
            self.queue = queue
        }

        func run(_ steps: [UInt8]) async {
            for step in [0, 1] + steps where !Task.isCancelled {
                do { try await perform(step) } catch { check(error) }
            }
        }

        private func perform(_ step: UInt8) async throws {
            let (ids, claimed) = state.withLock { ($0.ids, $0.claimed) }
            switch step % 20 {
            case 0: try await enqueue(count: 1, isKeyed: step & 0x80 != 0)
            case 1:
                let jobs = try await queue.claim(2, by: "worker", lease: .seconds(30), hostLimit: 2)
                state.withLock { $0.claimed += jobs }
            case 2: try await enqueue(count: 3, isKeyed: step & 0x80 != 0)
            case 3: _ = try await queue.extend(claimed.map(\.lease), by: .seconds(30))
            case 4: try await finish(claimed, as: step)
            case 5:
                let error = ManifestError(AttachPrepError(.downloadTimeout, "Too late."))
                for job in claimed {
                    _ = try await queue.postpone(job.lease, until: .now.addingTimeInterval(1), error: error)
                }
            case 6: try await queue.release(claimed.map(\.lease))
            case 7: for id in ids { _ = try await queue.cancel(id) }
            case 8: for id in ids { _ = try await queue.retry(id) }
            case 9: for id in ids { _ = try (try await queue.job(id)).map { try JSONEncoder().encode($0) } }
            case 10: _ = try await queue.nextDue()
            case 11: _ = try await queue.list(JobFilter(), after: nil, limit: 10)
            case 12: _ = (try await queue.counts(), try await queue.pace(until: .now))
            case 13: _ = try await queue.result(for: WorkKey("ab"))
            case 14: try await store()
            case 15: try await upload()
            case 16:
                _ = try await queue.claimWebhooks(3, lease: .seconds(5))
                _ = try await queue.webhooks(WebhookFilter(), after: nil, limit: 5)
            case 17:
                for id in ids {
                    try await queue.append([JobLogLine(job: id, date: .now, level: "info", text: "a")])
                    _ = try await queue.log(of: id)
                }
            case 18: _ = try await queue.sweep()
            default: _ = try await queue.purge(JobFilter())
            }
        }

        private func enqueue(count: Int, isKeyed: Bool) async throws {
            let submissions = (0..<count).map { number in
                JobSubmission(
                    request: AttachmentRequest(source: "https://cdn.example/\(number).png"),
                    key: WorkKey("ab\(number)"), host: "cdn.example")
            }
            let key = IdempotencyKey(caller: "a", key: "k", bodyDigest: "d")
            let taken = try await queue.enqueue(submissions, idempotency: isKeyed ? key : nil)
            state.withLock { $0.ids += taken.jobs.map(\.id) }
        }

        private func finish(_ claimed: [ClaimedJob], as step: UInt8) async throws {
            let rejection = AttachPrepError(.downloadTimeout, "Too late.")
            for job in claimed {
                let manifest = Manifest(rejecting: job.request, rejection)
                let ending: JobCompletion = step & 0x80 != 0 ? .dead(manifest) : .failed(manifest)
                let notice = WebhookNotice(url: "https://hooks.example/", event: .jobDead, body: "{}")
                _ = try await queue.finish(job.lease, ending, notice: step & 0x40 != 0 ? notice : nil)
            }
        }

        private func store() async throws {
            let manifest = Manifest(rejecting: AttachmentRequest(source: "a"), AttachPrepError(.mediaCorrupt, "No."))
            let result = try await queue.store(
                manifest, folder: nil, for: WorkKey("ab"), freshness: nil, fetchedAt: .now)
            try await queue.renew(result.media, SourceFreshness(), fetchedAt: .now)
        }

        private func upload() async throws {
            let begun = try await queue.beginUpload()
            let bytes = [UInt8](repeating: 7, count: 300_000)
            guard FileManager.default.createFile(atPath: begun.path, contents: Data(bytes)) else { return }
            let upload = try await queue.store(begun, bytes: bytes.count, sha256: String(repeating: "a", count: 64))
            guard let found = try await queue.upload(upload.id) else { return }
            try? FileManager.default.removeItem(atPath: found.path)
            _ = try await queue.file(of: found)
        }
    }
}
